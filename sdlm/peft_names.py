"""Names of tensors in an adapter of peft's, around those of the modules that it adapts."""

# peft's model holds the transformers model under this name.
PREFIX = "base_model.model."
LORA_A, LORA_B = ".lora_A.weight", ".lora_B.weight"
# Whole rows of an embedding or a head, those of `trainable_token_indices`.
ROWS = ".token_adapter.trainable_tokens_delta"
