"""Files of training data: JSONL of conversations, the same for every command that reads them.

A line is `{"messages": [{"role", "content"}, …]}` or `{"prompt", "response"}`; other fields are
ignored.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def check_data(data: Path) -> None:
    if not data.is_file():
        fault = "is not a file" if data.exists() else "does not exist"
        raise ValueError(f"{data} {fault}; training data is a JSONL file")


def data_lines(data: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file of training data, each after the words that name it in errors."""
    check_data(data)
    with data.open("rb") as file:
        for number, line in enumerate(file, 1):
            place = f"{data}:{number}"
            try:
                # Some programs begin a file with a byte order mark.
                text = line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise ValueError(f"{place} is not UTF-8 text ({error.reason})") from None
            yield place, text


def parse_line(line: str, where: str) -> list[dict[str, str]]:
    """The messages of one line of the data; ValueError naming the line if it is malformed."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # nested too deeply, or a number of too many digits
        raise ValueError(f"{where} is not JSON: {line.strip()[:60]!r}") from None
    if not isinstance(row, dict):
        raise ValueError(f"{where} is not a JSON object")
    if "messages" in row:
        messages = row["messages"]
    elif "prompt" in row and "response" in row:
        messages = [
            {"role": "user", "content": row["prompt"]},
            {"role": "assistant", "content": row["response"]},
        ]
    else:
        raise ValueError(f"{where} has neither messages, nor prompt and response")
    if not isinstance(messages, list) or not all(_is_message(message) for message in messages):
        raise ValueError(f"{where}: every message needs a role and a content, both text")
    if not any(message["role"] == "assistant" for message in messages):
        raise ValueError(f"{where} has no assistant turn; training data has one in each line")
    try:
        "".join(message["role"] + message["content"] for message in messages).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{where} is not text: half a surrogate pair is no character") from None
    return [{"role": m["role"], "content": m["content"]} for m in messages]


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and all(
        isinstance(message.get(field), str) for field in ("role", "content")
    )
