"""`harness decode`: prompts or token ids in, tokens and what each step kept out, as JSON lines.

All input is checked before the first forward.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from decoders.generate import Completion, Request, check_request, generate
from decoders.protocol import Decoder
from decoders.trimming import Ending
from harness.answers import text_of
from harness.json_lines import Line, naming_line, read_lines, read_objects, shown
from harness.models import LoadedModel
from harness.terminal import progress_bar
from sdlm.tokenizer import chat_ids, has_chat_template, text_ids

INPUT_SHAPE = '{"id": ..., "ids": [...]} or {"id": ..., "prompt": "..."}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """An input line: its own id, given back as it came, and the request made of it."""

    id: str | int
    request: Request


def read_prompts(source: str, loaded: LoadedModel, *, raw: bool) -> list[Prompt]:
    """The prompts of a file, or of standard input for `-`.

    A `prompt` becomes a user's chat turn where the tokenizer has a chat template and `raw` is
    false; `ids` are fed as they are. Raises ValueError naming the line of the first fault.
    """
    prompts: list[Prompt] = []
    for line in read_objects(read_lines("--input", source), shown(source), INPUT_SHAPE):
        with naming_line(shown(source), line.number):
            prompts.append(_prompt(line, loaded, raw=raw))
            check_request(loaded.model, prompts[-1].request)
    if not prompts:
        raise ValueError(f"{shown(source)} holds no prompt; give lines of {INPUT_SHAPE}")
    return prompts


def decode(
    loaded: LoadedModel,
    decoders: dict[str, Decoder],
    prompts: Sequence[Prompt],
    *,
    max_new_tokens: int,
    eos_token_ids: frozenset[int],
    batch_size: int,
    on_error: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """One object for each decoder and prompt, in the order of both.

    An answer that failed is an object with its `error`, which `on_error` is told as well.
    """
    ending = Ending(budget=max_new_tokens, eos_token_ids=eos_token_ids)
    requests = [prompt.request for prompt in prompts]
    with progress_bar("decoding", total=len(decoders) * len(prompts), done=0) as advance:
        for spec, decoder in decoders.items():
            answers: dict[str, Completion] = {}
            for completion in generate(
                loaded.model, decoder, requests, ending, batch_size=batch_size
            ):
                if completion.error is not None:
                    on_error(completion.error)
                answers[completion.key] = completion
                advance(spec)
            for prompt in prompts:
                yield _row(prompt, spec, answers[prompt.request.key], loaded)


def parse_eos_ids(text: str | None, loaded: LoadedModel) -> frozenset[int]:
    """`1,2`, `none`, or the model's own for None."""
    if text is None:
        return loaded.eos_token_ids
    if text.strip() == "none":
        return frozenset()
    try:
        ids = frozenset(int(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--eos-ids is {text!r}; give token ids such as 1,2, or none") from None
    vocabulary = loaded.model.config.vocab_size
    if outside := [token for token in ids if not 0 <= token < vocabulary]:
        raise ValueError(f"--eos-ids has {outside[0]}; the vocabulary is 0...{vocabulary - 1}")
    return ids


def _prompt(line: Line, loaded: LoadedModel, *, raw: bool) -> Prompt:
    row = line.fields
    if isinstance(line.id, str):
        _check_text("id", line.id)
    if row.keys() - {"id"} not in ({"ids"}, {"prompt"}):
        raise ValueError(f"its keys are {', '.join(row)}; give {INPUT_SHAPE}")
    ids = _given_ids(row["ids"]) if "ids" in row else _encoded(row["prompt"], loaded, raw=raw)
    return Prompt(id=line.id, request=Request(key=str(line.id), ids=ids))


def _given_ids(ids: object) -> tuple[int, ...]:
    if not isinstance(ids, list):
        raise ValueError(f"ids is {ids!r:.80}; it must be a list of integers")
    tokens = cast("list[object]", ids)
    if wrong := [token for token in tokens if type(token) is not int]:
        raise ValueError(f"ids has {wrong[0]!r:.80}; it must be a list of integers")
    return tuple(cast("list[int]", ids))


def _check_text(name: str, text: str) -> None:
    """JSON can spell half a surrogate pair, which no tokenizer reads and no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has {text[error.start]!r}, which is no character") from None


def _encoded(text: object, loaded: LoadedModel, *, raw: bool) -> tuple[int, ...]:
    if not isinstance(text, str):
        raise ValueError(f"prompt is {text!r:.80}; it must be a string")
    _check_text("prompt", text)
    if loaded.tokenizer is None:
        raise ValueError(f"a prompt needs a tokenizer, and {loaded.folder} has none; give ids")
    if not text:
        return ()
    if raw or not has_chat_template(loaded.tokenizer):
        return tuple(text_ids(loaded.tokenizer, text))
    return tuple(chat_ids(loaded.tokenizer, [{"role": "user", "content": text}]))


def _row(prompt: Prompt, spec: str, answer: Completion, loaded: LoadedModel) -> dict[str, Any]:
    """The output line. A failed answer has no text, and nothing of its own has ended it."""
    failed = answer.error is not None
    row = {
        "id": prompt.id,
        "decoder": spec,
        "ids": list(answer.ids),
        "text": None if failed or loaded.tokenizer is None else text_of(loaded, answer),
        "finish": None if failed else answer.finish,
        "kept": list(answer.kept),
        "forwards": {"prefill": answer.prefill_forwards, "decode": answer.decode_forwards},
        "query_slots": answer.query_slots,
        "wall_s": answer.wall_s,
    }
    return row | {"error": answer.error} if failed else row
