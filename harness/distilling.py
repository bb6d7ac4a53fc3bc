"""`harness self-distil`: training data whose answers are a model's own.

A retrofit on it keeps the model's way of putting things and teaches the blocks alone: people word
the same answer in many ways, which no block can guess, and a model greedily decoded in one.
"""

import hashlib
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from decoders.generate import Request, check_request, generate
from decoders.protocol import Decoder
from harness.answers import ending_of, text_of
from harness.json_lines import write_rows
from harness.kept_answers import Keep, OwnAnswer, kept_answers
from harness.models import LoadedModel, default_device, open_model
from harness.planning import build_decoders
from harness.run_config import Dtype, Mismatch
from harness.terminal import progress_bar
from sdlm.checkpoint import model_sha256
from sdlm.conversations import data_lines, parse_line
from sdlm.merging import find_model
from sdlm.tokenizer import chat_ids
from tasks import Item, Task

#: What a task reads of an item to judge a text is its reference alone.
NO_ITEM = Item(id="", messages=(), gold="")


class Conversation(NamedTuple):
    """The turns before a conversation's last answer, the prompt made of them, and that answer."""

    turns: list[dict[str, str]]
    request: Request
    answer: str


def self_distil(
    data: Path,
    out: str,
    *,
    model: str,
    decoder: str,
    judge: Task | None,
    on_mismatch: Mismatch,
    max_new_tokens: int,
    batch_size: int,
    dtype: Dtype,
) -> None:
    """Answer a file's conversations, and write them with those answers to a file, whole.

    Raises ValueError for the faults of the file, of the model, and of answers kept earlier.
    """
    folder = find_model(model)
    ((spec, strategy),) = build_decoders([decoder], folder, None).items()
    loaded = open_model(
        model, folder, dtype=dtype, attention=None, device=default_device(), need_tokenizer=True
    )
    conversations = read_conversations(data, loaded)
    settings = {
        "model_sha256": model_sha256(folder),
        "data": str(data),
        "data_sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
        "decoder": spec,
        "max_new_tokens": max_new_tokens,
        "dtype": str(loaded.model.dtype),
    }
    with kept_answers(out, settings) as (answers, keep):
        answer_all(
            loaded,
            strategy,
            [each for each in conversations if each.request.key not in answers],
            keep,
            max_new_tokens=max_new_tokens,
            batch_size=batch_size,
            done=len(answers),
        )
        write_rows(distil(conversations, answers, judge, on_mismatch), out)


def read_conversations(data: Path, loaded: LoadedModel) -> list[Conversation]:
    """The prompts of a file of training data, each once; says how many were there before.

    ValueError names the line of the first fault.
    """
    assert loaded.tokenizer is not None, "chat turns need a tokenizer"
    conversations: dict[tuple[int, ...], Conversation] = {}
    repeated = 0
    for place, line in data_lines(data):
        messages = parse_line(line, place)
        if len(messages) < 2 or messages[-1]["role"] != "assistant":
            raise ValueError(f"{place}: the last turn is not an answer of the assistant's")
        turns = messages[:-1]
        try:
            request = Request(key=place, ids=tuple(chat_ids(loaded.tokenizer, turns)))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        check_request(loaded.model, request)
        if request.ids in conversations:
            repeated += 1
            continue
        conversations[request.ids] = Conversation(turns, request, messages[-1]["content"])
    if not conversations:
        raise ValueError(f"{data} holds no conversation")
    if repeated:
        print(f"{repeated} prompts of {data} stand there before and are dropped", file=sys.stderr)
    return list(conversations.values())


def answer_all(
    loaded: LoadedModel,
    decoder: Decoder,
    conversations: Sequence[Conversation],
    keep: Keep,
    *,
    max_new_tokens: int,
    batch_size: int,
    done: int = 0,
) -> None:
    """Hand the model's answer to every conversation to `keep`, as they come; `done` are before."""
    ending = ending_of(loaded, budget=max_new_tokens)
    requests = [each.request for each in conversations]
    tokens, began_s = 0, time.perf_counter()
    with progress_bar("answering", total=done + len(requests), done=done) as advance:
        # Longest first: the prompts of a prefill hardly differ.
        for answer in generate(
            loaded.model, decoder, requests, ending, batch_size=batch_size, order="longest-first"
        ):
            finished = answer.error is None and answer.finish != "length"
            keep(
                answer.key, OwnAnswer(text_of(loaded, answer) if finished else None, answer.error)
            )
            tokens += len(answer.ids)
            advance(f"{tokens / (time.perf_counter() - began_s):,.0f} tokens/s")


def distil(
    conversations: Sequence[Conversation],
    answers: Mapping[str, OwnAnswer],
    judge: Task | None,
    on_mismatch: Mismatch,
) -> Iterator[dict[str, Any]]:
    """The conversations, in order, with the model's answers, by the key of their requests.

    Unfinished ones are left out. With a judge, an answer that comes to another result than the
    data's is left out too where `on_mismatch` is "drop"; where it is "data", the data's answer
    takes its place and that of unfinished ones. A conversation whose answer failed is left out
    either way. Says on standard error how many of each there were.
    """
    count: Counter[str] = Counter()
    errors: list[str] = []
    for each in conversations:
        text, error = answers[each.request.key]
        if error is not None:
            errors.append(error)
            continue
        whose = "own"
        if text is None:
            whose = "unfinished"
        elif judge is not None and not agrees(judge, each.answer, text):
            text, whose = None, "another result"
        if text is None and judge is not None and on_mismatch == "data":
            text, whose = each.answer, "data"
        count[whose] += 1
        if text is not None:
            yield {"messages": [*each.turns, {"role": "assistant", "content": text}]}
    told = f"{count['own']} answers are the model's own, {count['data']} the data's; left out are"
    told += f" {count['unfinished']} unfinished, {count['another result']} with another result"
    told += f" and {len(errors)} failed" + (f" (the first: {errors[0]})" if errors else "")
    print(told, file=sys.stderr)


def gold_of(judge: Task, answer: str) -> Item | None:
    """The result of the data's own answer as a reference; None where the task reads none."""
    try:
        found = judge.score(replace(NO_ITEM, gold="0"), answer, True).answer
    except ValueError:  # a task of choices takes letters only
        found = judge.score(replace(NO_ITEM, gold="A"), answer, True).answer
    if found is None:
        return None
    item = replace(NO_ITEM, gold=found)
    try:
        judge.score(item, "", True)
    except ValueError:  # an expression, such as "2 x 9", is an answer and no reference
        return None
    return item


def agrees(judge: Task, answer: str, text: str) -> bool:
    """Whether a text comes to the result of the data's answer."""
    gold = gold_of(judge, answer)
    return gold is not None and judge.score(gold, text, True).correct
