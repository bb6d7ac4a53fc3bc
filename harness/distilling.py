"""`harness self-distil`: training data whose answers are a model's own.

A retrofit on it keeps the model's way of putting things and teaches the blocks alone: people word
the same answer in many ways, which no block can guess, and a model greedily decoded in one.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from decoders.generate import Request, check_request, generate
from decoders.registry import build_decoder
from harness.answers import ending_of, text_of
from harness.json_lines import read_lines
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
    conversations: list[Conversation] = []
    for number, line in enumerate(read_lines("--data", str(data)), 1):
        if not line.strip():
            continue
        place = f"{data}:{number}"
        messages = parse_line(line, place)
        if len(messages) < 2 or messages[-1]["role"] != "assistant":
            raise ValueError(f"{place}: the last turn is not an answer of the assistant's")
        turns = messages[:-1]
        request = Request(key=place, ids=tuple(chat_ids(loaded.tokenizer, turns)))
        check_request(loaded.model, request)
        conversations.append(Conversation(turns, request, messages[-1]["content"]))
    if not conversations:
        raise ValueError(f"{data} holds no conversation")
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
    data's doesn't replace it, so what is learnt stays right. A conversation whose answer failed is
    left out either way. Says on standard error how many of each there were.
    """
    golds = [None if judge is None else gold_of(judge, each.answer) for each in conversations]
    decoder = build_decoder("ar", default_block=2, mask_token_id=None)
    ending = ending_of(loaded, budget=max_new_tokens)
    step = batch_size * CHUNK_BATCHES
    own = kept = 0
    errors: dict[str, str] = {}
    with progress_bar("answering", total=len(conversations), done=0) as advance:
        for first in range(0, len(conversations), step):
            chunk = conversations[first : first + step]
            # Longest first: the prompts of a prefill hardly differ.
            requests = sorted((each.request for each in chunk), key=lambda r: -len(r.ids))
            answers: dict[str, str] = {}
            for answer in generate(loaded.model, decoder, requests, ending, batch_size=batch_size):
                if answer.error is not None:
                    errors[answer.key] = answer.error
                elif answer.finish != "length":
                    answers[answer.key] = text_of(loaded, answer)
                advance("")
            for each, gold in zip(chunk, golds[first : first + step], strict=True):
                if each.request.key in errors:
                    continue
                text = answers.get(each.request.key)
                if judge is not None and (text is None or not agrees(judge, gold, text)):
                    text, kept = each.answer, kept + 1
                elif text is not None:
                    own += 1
                if text is not None:
                    turn = {"role": "assistant", "content": text}
                    yield {"messages": [*each.turns, turn]}
    unfinished = len(conversations) - own - kept - len(errors)
    told = f"{own} answers are the model's own, {kept} the data's; {unfinished} unfinished"
    if errors:
        told += f" and {len(errors)} failed (the first: {next(iter(errors.values()))})"
    print(f"{told}, left out", file=sys.stderr)


def gold_of(judge: Task, answer: str) -> Item | None:
    """The result of the data's own answer as a reference; None where the task reads none."""
    item = Item(id="", messages=(), gold="0")
    found = judge.score(item, answer, True).answer
    if found is None:
        return None
    item = replace(item, gold=found)
    try:
        judge.score(item, "", True)
    except ValueError:  # an expression, such as "2 x 9", is an answer and no reference
        return None
    return item


def agrees(judge: Task, gold: Item | None, text: str) -> bool:
    """Whether a text comes to the result of the reference."""
    return gold is not None and judge.score(gold, text, True).correct
