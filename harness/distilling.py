"""`harness self-distil`: training data whose answers are a model's own.

A retrofit on it keeps the model's way of putting things and teaches the blocks alone: people word
the same answer in many ways, which no block can guess, and a model greedily decoded in one.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from decoders.ar import Autoregressive
from decoders.generate import Request, check_request, generate
from harness.answers import ending_of, text_of
from harness.models import LoadedModel
from harness.terminal import progress_bar
from sdlm.retrofit.samples import parse_line
from sdlm.tokenizer import chat_ids
from tasks import Item, Task

# Requests in flight before answers are written out: rows stay full, and little is held.
CHUNK_BATCHES = 16


class Conversation(NamedTuple):
    """The turns before a conversation's last answer, the prompt made of them, and that answer."""

    turns: list[dict[str, str]]
    request: Request
    answer: str


def read_conversations(data: Path, loaded: LoadedModel) -> list[Conversation]:
    """The prompts of a file of training data; ValueError names the line of the first fault."""
    assert loaded.tokenizer is not None, "chat turns need a tokenizer"
    if not data.is_file():
        raise ValueError(f"{data} does not exist; training data is a JSONL file")
    conversations: list[Conversation] = []
    with data.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            place = f"{data}:{number}"
            messages = parse_line(line, place)
            if len(messages) < 2 or messages[-1]["role"] != "assistant":
                raise ValueError(f"{place}: the last turn is not an answer of the assistant's")
            turns = messages[:-1]
            request = Request(key=str(number), ids=tuple(chat_ids(loaded.tokenizer, turns)))
            check_request(loaded.model, request)
            conversations.append(Conversation(turns, request, messages[-1]["content"]))
    return conversations


def distil(
    loaded: LoadedModel,
    conversations: list[Conversation],
    judge: Task | None,
    *,
    max_new_tokens: int,
    batch_size: int,
) -> Iterator[dict[str, Any]]:
    """The conversations, in order, with greedy answers of the model.

    Unfinished ones are left out. With a judge, an answer that comes to another result than the
    data's doesn't replace it, so what is learnt stays right.
    """
    ending = ending_of(loaded, budget=max_new_tokens)
    step = batch_size * CHUNK_BATCHES
    with progress_bar("answering", total=len(conversations), done=0) as advance:
        for first in range(0, len(conversations), step):
            chunk = conversations[first : first + step]
            # Longest first: the prompts of a prefill hardly differ.
            requests = sorted((each.request for each in chunk), key=lambda r: -len(r.ids))
            answers: dict[str, str] = {}
            for answer in generate(
                loaded.model, Autoregressive(), requests, ending, batch_size=batch_size
            ):
                if answer.finish != "length":
                    answers[answer.key] = text_of(loaded, answer)
                advance("")
            for each in chunk:
                text = answers.get(each.request.key)
                if judge is not None and (text is None or not agrees(judge, each.answer, text)):
                    text = each.answer
                if text is not None:
                    turn = {"role": "assistant", "content": text}
                    yield {"messages": [*each.turns, turn]}


def agrees(judge: Task, known: str, text: str) -> bool:
    """Whether a task finds the same answer in both texts."""
    item = Item(id="", messages=(), gold="0")
    gold = judge.score(item, known, True).answer
    return gold is not None and judge.score(replace(item, gold=gold), text, True).correct
