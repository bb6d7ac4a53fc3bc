"""Between text and ids: prompts on their way in, answers on their way out."""

from collections.abc import Sequence

from decoders.generate import Completion
from decoders.trimming import Ending
from harness.models import LoadedModel
from sdlm.tokenizer import chat_ids, decode_ids, special_token_id, text_ids
from tasks import Item


def prompt_ids(loaded: LoadedModel, item: Item) -> tuple[int, ...]:
    """An item's chat turns under the model's template, or its prompt as it stands."""
    assert loaded.tokenizer is not None, "text needs a tokenizer"
    if item.prompt is not None:
        return tuple(text_ids(loaded.tokenizer, item.prompt))
    messages = [{"role": turn.role, "content": turn.content} for turn in item.messages]
    return tuple(chat_ids(loaded.tokenizer, messages))


def ending_of(loaded: LoadedModel, *, budget: int, stop: Sequence[str] = ()) -> Ending:
    """The end tokens of the model and the stop strings of a task.

    A stop string that is one of the tokenizer's special tokens ends an answer as a token: decoded
    text never shows it.
    """
    if not stop:
        return Ending(budget=budget, eos_token_ids=loaded.eos_token_ids)
    tokenizer = loaded.tokenizer
    assert tokenizer is not None, "stop strings need a tokenizer"
    tokens = {text: special_token_id(tokenizer, text) for text in stop}
    ends = {token for token in tokens.values() if token is not None}
    return Ending(
        budget=budget,
        eos_token_ids=loaded.eos_token_ids | ends,
        stop=tuple(text for text, token in tokens.items() if token is None),
        decode=lambda ids: decode_ids(tokenizer, ids),
    )


def text_of(loaded: LoadedModel, completion: Completion) -> str:
    """The answer's text; where a stop string cut it inside a token, the text up to there.

    Raises ValueError for an answer that ended in an error.
    """
    if completion.error is not None:
        raise ValueError(completion.error)
    if completion.text is not None:
        return completion.text
    assert loaded.tokenizer is not None, "text needs a tokenizer"
    return decode_ids(loaded.tokenizer, completion.ids)
