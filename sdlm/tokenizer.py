"""Tokenizers and chat templates: loading a folder's, and training a small one.

The only file of `sdlm` that imports transformers. A trained tokenizer is a byte-level BPE in which
every digit is the same single token wherever it stands: digits are split off before merging, so
" 42" is " ", "4", "2". Its chat template is ChatML without a default system message.

    python -m sdlm.tokenizer --data train.jsonl --vocab-size 1024 --out DIR
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from jinja2 import TemplateError
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AddedToken, AutoTokenizer, PreTrainedTokenizerFast

from sdlm.command_line import run_command
from sdlm.conversations import data_lines, parse_line
from sdlm.model import ModelConfig
from sdlm.whole_file import whole_file

END_OF_TEXT, TURN_START, TURN_END, MASK = "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|mask|>"
SPECIAL_TOKENS = [END_OF_TEXT, TURN_START, TURN_END, MASK]
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
# What transformers 4 and 5 call a tokenizer that is wholly described by its tokenizer.json.
GENERIC_CLASSES = ("PreTrainedTokenizerFast", "TokenizersBackend")
# Special tokens, 256 bytes: below this there would be no merges at all.
MIN_VOCAB_SIZE = 256 + len(SPECIAL_TOKENS)


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The fast tokenizer saved in a local folder; never downloads and never runs its code.

    A tokenizer of no particular family is what its tokenizer.json says. AutoTokenizer would give
    it the normaliser and word splitting of the model's family instead.
    """
    config = folder / "tokenizer_config.json"
    if not (folder / "tokenizer.json").exists() and not config.exists():
        raise ValueError(
            f"{folder} holds no tokenizer; tokenizer.json and tokenizer_config.json are expected"
        )
    try:
        settings = json.loads(config.read_text(encoding="utf-8")) if config.exists() else {}
        generic = settings.get("tokenizer_class") in GENERIC_CLASSES
        kind = PreTrainedTokenizerFast if generic else AutoTokenizer
        tokenizer = kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # what the tokenizers library raises has no class of its own
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"the tokenizer in {folder} can't be read: {reason}") from None
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise ValueError(f"the tokenizer in {folder} is not a fast one (it has no tokenizer.json)")
    return tokenizer


def check_mask_token(tokenizer: PreTrainedTokenizerFast, config: ModelConfig) -> None:
    """Raise ValueError if the mask token is one that ordinary text can contain."""
    mask = config.mask_token_id
    if mask is None or mask >= len(tokenizer) or mask in tokenizer.added_tokens_decoder:
        return
    raise ValueError(
        f"text_mask_token_id {mask} is {tokenizer.convert_ids_to_tokens(mask)!r}, an ordinary"
        " token of the vocabulary; the mask must be an added token, or an id past the"
        f" tokenizer's {len(tokenizer)}"
    )


def mask_text(tokenizer: PreTrainedTokenizerFast, config: ModelConfig) -> str | None:
    """The mask token's text; None for a model without, or with one past the tokenizer's own."""
    mask = config.mask_token_id
    if mask is None or mask >= len(tokenizer):
        return None
    text = tokenizer.convert_ids_to_tokens(mask)
    assert isinstance(text, str)
    return text


def add_special_token(tokenizer: PreTrainedTokenizerFast, token: str) -> int:
    """The id of `token`, which is added, as a special one, if the vocabulary lacks it."""
    if not token.strip():
        raise ValueError(f"the mask token is {token!r}; give a text such as {MASK}")
    if token not in tokenizer.get_vocab():
        tokenizer.add_tokens([AddedToken(token, special=True, normalized=False)])
    return tokenizer.get_vocab()[token]


def end_token_ids(tokenizer: PreTrainedTokenizerFast) -> set[int]:
    """The end-of-sequence and padding tokens, where the tokenizer names them."""
    return {
        token_id
        for token_id in (tokenizer.eos_token_id, tokenizer.pad_token_id)
        if isinstance(token_id, int)
    }


def chat_text(
    tokenizer: PreTrainedTokenizerFast, messages: list[dict[str, str]], *, open_turn: bool = False
) -> str:
    """The prompt for the assistant's next turn, under the tokenizer's own chat template.

    open_turn: the last message is the beginning of that turn, and stays open.
    """
    return _chat_text(tokenizer, messages, prompt=not open_turn, open_turn=open_turn)


def whole_chat_text(tokenizer: PreTrainedTokenizerFast, messages: list[dict[str, str]]) -> str:
    """A conversation that has ended, under the tokenizer's own chat template."""
    return _chat_text(tokenizer, messages, prompt=False, open_turn=False)


def _chat_text(
    tokenizer: PreTrainedTokenizerFast,
    messages: list[dict[str, str]],
    *,
    prompt: bool,
    open_turn: bool,
) -> str:
    if not tokenizer.chat_template:
        raise ValueError(
            "the tokenizer has no chat template, so a chat can't be written out; give a model"
            " with a chat_template.jinja, or a chat_template in its tokenizer_config.json"
        )
    try:
        text = tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=prompt,
            continue_final_message=open_turn,
        )
    except (TemplateError, TypeError) as error:
        raise ValueError(f"the tokenizer's chat template refuses the messages: {error}") from None
    assert isinstance(text, str)
    return text


def chat_ids(tokenizer: PreTrainedTokenizerFast, messages: list[dict[str, str]]) -> list[int]:
    """The prompt as ids; a last message of the assistant's own is the beginning of its turn."""
    open_turn = bool(messages) and messages[-1]["role"] == "assistant"
    text = chat_text(tokenizer, messages, open_turn=open_turn)
    return text_ids(tokenizer, text, special=False)


def has_chat_template(tokenizer: PreTrainedTokenizerFast) -> bool:
    return bool(tokenizer.chat_template)


def text_ids(tokenizer: PreTrainedTokenizerFast, text: str, *, special: bool = True) -> list[int]:
    """Text as it stands; `special` adds the tokens that the tokenizer itself puts around it."""
    return tokenizer(text, add_special_tokens=special)["input_ids"]


def special_token_id(tokenizer: PreTrainedTokenizerFast, text: str) -> int | None:
    """The id of a special token, written out; None for any other text."""
    token_id = tokenizer.get_vocab().get(text)
    return token_id if token_id in tokenizer.all_special_ids else None


def decode_ids(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> str:
    """The text of generated ids, without special tokens."""
    text = tokenizer.decode(list(ids), skip_special_tokens=True)
    assert isinstance(text, str), "one sequence decodes to one text"
    return text


def shown_ids(tokenizer: PreTrainedTokenizerFast, ids: Sequence[int]) -> str:
    """The text of any ids, with the special tokens among them."""
    text = tokenizer.decode(list(ids), skip_special_tokens=False)
    assert isinstance(text, str), "one sequence decodes to one text"
    return text


def train_tokenizer(texts: Iterable[str], vocab_size: int, out: Path) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE on `texts` and save it as a Hugging Face tokenizer folder."""
    if vocab_size < MIN_VOCAB_SIZE:
        raise ValueError(
            f"vocab_size is {vocab_size}; at least {MIN_VOCAB_SIZE} are needed"
            f" (256 bytes and {len(SPECIAL_TOKENS)} special tokens)"
        )
    bpe = Tokenizer(models.BPE())
    # Digits first: what follows sees each digit alone, so no merge can contain one.
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer=trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[TURN_START, MASK],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    save_tokenizer(tokenizer, out)
    return tokenizer


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write the tokenizer's files, each whole or not at all, in words that transformers 4 and 5
    both understand."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        drafts = Path(name)
        try:
            tokenizer.save_pretrained(drafts)
        except Exception as error:
            if type(error) is not Exception:
                raise
            # The tokenizers library's words for a full disk.
            raise OSError(f"the tokenizer can't be written to {drafts}: {error}") from None
        _reword(drafts / "tokenizer_config.json")
        # A template of its own for each use is a file in a folder below.
        for draft in filter(Path.is_file, drafts.rglob("*")):
            path = folder / draft.relative_to(drafts)
            path.parent.mkdir(exist_ok=True)
            with whole_file(path) as whole:
                shutil.copyfile(draft, whole)


def _reword(path: Path) -> None:
    settings = json.loads(path.read_text(encoding="utf-8"))
    # How it was loaded here is nobody else's business.
    for name in ("is_local", "local_files_only", "trust_remote_code", "backend"):
        settings.pop(name, None)
    if settings.get("tokenizer_class") in GENERIC_CLASSES:
        settings["tokenizer_class"] = GENERIC_CLASSES[0]
    if isinstance(extra := settings.get("extra_special_tokens"), list):
        del settings["extra_special_tokens"]
        settings["additional_special_tokens"] = extra
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_texts(data: Path, limit: int) -> Iterator[str]:
    """Every message, prompt and response of a JSONL file's first `limit` lines."""
    for place, line in islice(data_lines(data), limit):
        yield from (message["content"] for message in parse_line(line, place))


def main(
    data: Annotated[Path, typer.Option(help="JSONL of chat messages, or prompt and response")],
    out: Annotated[Path, typer.Option(help="folder to write the tokenizer to")],
    vocab_size: Annotated[int, typer.Option(help="tokens, special ones included")] = 1024,
    max_lines: Annotated[
        int, typer.Option(min=1, help="lines of the data to learn from")
    ] = 50_000,
) -> None:
    """Train a byte-level BPE with one token per digit."""
    tokenizer = train_tokenizer(read_texts(data, max_lines), vocab_size, out)
    print(f"{out}: {len(tokenizer)} tokens")


if __name__ == "__main__":
    run_command(main)
