"""Training data: conversations (`sdlm.conversations`), tokenised once and kept in flat arrays.

The tokenizer's own chat template writes the text, which is cut at each assistant header so that
header and content are tokenised apart, exactly as prompt and answer are when decoding.
Tokenised data is cached in the run's folder under a hash of the data, tokenizer and template.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sdlm.conversations import check_data, data_lines, parse_line
from sdlm.retrofit.display import reading_display
from sdlm.tokenizer import PreTrainedTokenizerFast, chat_text, text_ids, whole_chat_text
from sdlm.whole_file import whole_file

LINES_AT_ONCE = 2000


class Sample(NamedTuple):
    """A tokenised conversation.

    spans: int64 [turns, 2]. Each [start, end) runs from the last header token before an assistant
    turn's content up to that turn's end token, exclusive: the places where a block may start.
    """

    ids: NDArray[np.int64]
    spans: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """All samples of a file in flat arrays: 300,000 conversations are some 200 MB.

    ids: int32 [tokens]; spans: int32 [turns, 2]; id_ends, span_ends: int64 [samples], running.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    id_ends: NDArray[np.int64]
    span_ends: NDArray[np.int64]
    sha256: str

    def __len__(self) -> int:
        return len(self.id_ends)

    def __getitem__(self, index: int) -> Sample:
        first = self.id_ends[index - 1] if index else 0
        turn = self.span_ends[index - 1] if index else 0
        return Sample(
            self.ids[first : self.id_ends[index]].astype(np.int64),
            self.spans[turn : self.span_ends[index]].astype(np.int64),
        )

    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.id_ends, prepend=0)

    def num_candidates(self) -> NDArray[np.int64]:
        """Places where a block may start, per sample."""
        widths = np.concatenate([[0], np.cumsum(self.spans[:, 1] - self.spans[:, 0])])
        return np.diff(widths[self.span_ends], prepend=0)


class ChatFormat(NamedTuple):
    """What a chat template puts around an assistant turn."""

    header: str
    header_ids: list[int]
    end: str
    end_id: int


def chat_format(tokenizer: PreTrainedTokenizerFast) -> ChatFormat:
    """Read header and end token off the template by rendering a probe conversation."""
    user = {"role": "user", "content": "x"}
    prompt = chat_text(tokenizer, [user])
    header = prompt.removeprefix(whole_chat_text(tokenizer, [user]))
    whole = whole_chat_text(tokenizer, [user, {"role": "assistant", "content": "x"}])
    if not header or not whole.startswith(prompt + "x"):
        raise ValueError(
            "the chat template does not begin an assistant turn as it prompts for one (one that"
            " writes an empty thinking block does not); give the base a chat_template.jinja that"
            " does"
        )
    tail = text_ids(tokenizer, whole.removeprefix(prompt + "x"), special=False)
    end = tokenizer.added_tokens_decoder.get(tail[0]) if tail else None
    if end is None:
        raise ValueError("the chat template does not end an assistant turn with a special token")
    return ChatFormat(header, text_ids(tokenizer, header, special=False), end.content, tail[0])


def load_samples(data: Path, tokenizer: PreTrainedTokenizerFast, cache_folder: Path) -> Samples:
    """Tokenise a JSONL file, or read what an earlier run in the same folder tokenised."""
    check_data(data)
    sha256 = _file_hash(data)
    key = hashlib.sha256(f"{sha256}\0{tokenizer_sha256(tokenizer)}".encode()).hexdigest()
    cache = cache_folder / f"samples-{key[:16]}.npz"
    if cache.exists():
        # A damaged one, such as a power cut leaves, is made anew.
        damaged = (OSError, ValueError, EOFError, TypeError, BadZipFile)
        with suppress(*damaged), np.load(cache, allow_pickle=False) as arrays:
            return Samples(**{name: arrays[name] for name in arrays.files}, sha256=sha256)
    samples = _tokenise(data, tokenizer, sha256)
    cache_folder.mkdir(parents=True, exist_ok=True)
    with whole_file(cache) as draft, draft.open("wb") as file:
        np.savez(
            file,
            ids=samples.ids,
            spans=samples.spans,
            id_ends=samples.id_ends,
            span_ends=samples.span_ends,
        )
    return samples


def tokenizer_sha256(tokenizer: PreTrainedTokenizerFast) -> str:
    """A hash over all that decides which ids a conversation becomes."""
    text = f"{tokenizer.chat_template}\0{tokenizer.backend_tokenizer.to_str()}"
    return hashlib.sha256(text.encode()).hexdigest()


def check_mask_is_new(samples: Samples, mask_id: int, data: Path) -> None:
    """Raise ValueError, naming the first such line, where a text has the mask token in it."""
    found = np.flatnonzero(samples.ids == mask_id)
    if len(found):
        line = 1 + int(np.searchsorted(samples.id_ends, found[0], side="right"))
        raise ValueError(
            f"{data}:{line} has the mask token {mask_id} in its text or its chat template; mend"
            " the line, or choose another --mask-token"
        )


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tokenise(data: Path, tokenizer: PreTrainedTokenizerFast, sha256: str) -> Samples:
    chat = chat_format(tokenizer)
    ids: list[NDArray[np.int32]] = []
    spans: list[list[int]] = []
    lengths: list[int] = []
    turns: list[int] = []
    lines = data_lines(data)
    with reading_display(data) as show:
        while chunk := list(islice(lines, LINES_AT_ONCE)):
            rows = [(place, parse_line(line, place)) for place, line in chunk]
            for sample in _encode(rows, tokenizer, chat):
                ids.append(sample.ids.astype(np.int32))
                spans.extend(sample.spans.tolist())
                lengths.append(len(sample.ids))
                turns.append(len(sample.spans))
            show(sum(len(line.encode()) for _, line in chunk))
    if not lengths:
        raise ValueError(f"{data} is empty; at least one conversation is expected")
    return Samples(
        ids=np.concatenate(ids),
        spans=np.array(spans, dtype=np.int32),
        id_ends=np.cumsum(lengths),
        span_ends=np.cumsum(turns),
        sha256=sha256,
    )


def _encode(
    rows: list[tuple[str, list[dict[str, str]]]],
    tokenizer: PreTrainedTokenizerFast,
    chat: ChatFormat,
) -> Iterator[Sample]:
    """The conversations as samples; ValueError naming the place of one that can't be."""
    pieces = [_written(messages, tokenizer, chat, place) for place, messages in rows]
    encoded = iter(
        tokenizer.backend_tokenizer.encode_batch_fast(
            [piece for row in pieces for piece in row], add_special_tokens=False
        )
    )
    for row in pieces:
        ids, spans = list(next(encoded).ids), []
        for _ in row[1:]:
            part = next(encoded).ids
            ids += chat.header_ids
            spans.append([len(ids) - 1, len(ids) + part.index(chat.end_id)])
            ids += part
        yield Sample(np.array(ids), np.array(spans))


def _written(
    messages: list[dict[str, str]],
    tokenizer: PreTrainedTokenizerFast,
    chat: ChatFormat,
    place: str,
) -> list[str]:
    """The text of a conversation, cut at each header of an assistant turn."""
    try:
        pieces = whole_chat_text(tokenizer, messages).split(chat.header)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    answers = [each["content"] for each in messages if each["role"] == "assistant"]
    if len(pieces) - 1 != len(answers) or any(chat.end not in piece for piece in pieces[1:]):
        raise ValueError(
            f"{place}: the chat template marks {len(pieces) - 1} assistant turns where there are"
            f" {len(answers)}; does a message contain special tokens?"
        )
    if any(chat.end in answer for answer in answers):
        raise ValueError(f"{place}: an assistant turn has {chat.end} in its text, which ends it")
    return pieces
