"""From answers to programs: every shape of answer runs the intended function."""

from __future__ import annotations

import gzip
import json
import os
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.programs import assemble, fenced_blocks

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SDLM_SHARED", ROOT.parent / "shared"))
PROMPT = '''import math
from typing import List


def double(x: int) -> int:
    return 2 * x


def total(numbers: List[int]) -> int:
    """ Twice the sum of the numbers.
    >>> total([1, 2])
    6
    """
'''
MODULE = '''def total(numbers: List[int]) -> int:
    """ Twice the sum of the numbers. """
    result = 0
    for number in numbers:
        result += double(number)
    return result
'''
BODY = """    result = 0
    for number in numbers:
        result += double(number)
    return result
"""
OUTDENTED = textwrap.dedent(BODY)
USAGE = "print(total([1, 2]))\n# 6\n"
CUT_COPY = MODULE + "\n\n" + "\n".join(MODULE.split("\n")[:4])


def fenced(code: str, word: str = "python") -> str:
    return f"```{word}\n{code}```\n"


FENCED = {
    "a block": fenced(MODULE),
    "prose around": f"Sure! Here it is:\n\n{fenced(MODULE)}\nIt adds and doubles.",
    "no language": fenced(MODULE, ""),
    "another spelling": fenced(MODULE, "Python3"),
    "tildes": f"~~~python\n{MODULE}~~~\n",
    "longer fence": f"````python\n{MODULE}````\n",
    "block in a list": "1. Do it:\n\n" + textwrap.indent(fenced(MODULE), "   "),
    "line ends of windows": fenced(MODULE).replace("\n", "\r\n"),
    "usage in a second block": f"{fenced(MODULE)}\nUse it so:\n{fenced(USAGE)}",
    "usage in a first block": f"You will call it so:\n{fenced(USAGE)}\n{fenced(MODULE)}",
    "usage that imports it": fenced(MODULE) + fenced("from solution import total\ntotal([1])\n"),
    "body in a block": fenced(BODY),
    "body without indent": fenced(OUTDENTED),
    "body whose first line lost its indent": fenced(BODY.lstrip()),
    "body, then usage": fenced(BODY) + fenced(USAGE),
    "helper after the function": fenced(
        MODULE.replace("double", "twice") + "\n\ndef twice(x):\n    return x + x\n"
    ),
    "helper in another block": fenced("def twice(x):\n    return x + x\n")
    + fenced(MODULE.replace("double", "twice")),
    "helper without a return": fenced(
        "def put(into, x):\n    into.append(2 * x)\n\n\ndef total(numbers):\n    kept = []\n"
        "    for number in numbers:\n        put(kept, number)\n    return sum(kept)\n"
    ),
    "imports above": fenced("import itertools\nfrom typing import *\n\n" + MODULE),
    "import from the future": fenced("from __future__ import annotations\n\n" + MODULE),
    "the whole prompt again": fenced(PROMPT + BODY),
    "the function twice": fenced(MODULE + "\n\n" + MODULE),
    "the function twice, cut off": f"```python\n{CUT_COPY}",
    "unclosed": f"Here:\n```python\n{MODULE}",
    "unclosed, cut off in an example": f"```python\n{MODULE}\n\nprint(total([1, 2])\nassert (",
    "unclosed body": f"```python\n{BODY}",
    "unclosed body, cut off": f"```python\n{BODY}\n\ndef main():\n    print('",
    "a stub, then the function": fenced(PROMPT) + "Completed:\n" + fenced(PROMPT + BODY),
    "a lambda": fenced("total = lambda numbers: sum(double(n) for n in numbers)\n"),
    "a decorator": fenced(
        "import functools\n\n@functools.cache\n" + "def total(numbers):\n" + BODY
    ).replace("@functools.cache\n", "@functools.wraps(double)\n"),
    "tabs": fenced(MODULE.replace("    ", "\t")),
    "a broken example after the function": fenced(MODULE + "\n>>> total([1, 2])\n6\n"),
}
UNFENCED = {
    "a module": MODULE,
    "a body": BODY,
    "body without indent": OUTDENTED,
    "body whose first line lost its indent": BODY.lstrip(),
    "body, then prose": BODY + "\nThis adds the numbers, then doubles them.",
    "body, then a helper": BODY.replace("double", "twice")
    + "\n\ndef twice(x):\n    return x + x\n",
    "body, then a closing fence": BODY + "```\nThat's it.",
    "module between prose": f"The code is as follows.\n\n{MODULE}\nI hope it helps you!",
    "prose, then a body": f"Here is the rest:\n\n{BODY}",
    "module, cut off": MODULE + "\nprint(total([1,",
    "one line": "    return 2 * sum(numbers)",
    "one line without indent": "return 2 * sum(numbers)",
}
SHAPES = [
    *[pytest.param(text, "marker", id=f"fenced: {name}") for name, text in FENCED.items()],
    *[pytest.param(text, "fallback", id=f"bare: {name}") for name, text in UNFENCED.items()],
]


def loaded(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(source, names)
    return names


@pytest.mark.parametrize(("text", "label"), SHAPES)
def test_every_shape_runs_the_intended_function(text: str, label: str) -> None:
    program = assemble(PROMPT, "total", text)
    assert program.source is not None
    assert program.extracted_by == label
    total = loaded(program.source)["total"]
    assert [total([]), total([1, 2]), total([-3, 4, 5])] == [0, 6, 12]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\n",
        "I cannot do that.",
        "```python\n```",
        fenced("print(1)"),
        fenced(PROMPT),
        f"```python\n{PROMPT}",
        "def total(numbers",
        "x" * 60_000,
        "```\n" * 1000,
        "\x00",
        "(" * 5000,
        fenced("def other(x):\n    pass\n"),
    ],
)
def test_no_program_is_no_program(text: str) -> None:
    program = assemble(PROMPT, "total", text)
    assert program.source is None
    assert program.extracted_by == "none"


def test_the_first_block_that_defines_the_function_counts() -> None:
    better = MODULE.replace("result = 0", "result = 100")
    program = assemble(PROMPT, "total", fenced(MODULE) + fenced(better))
    assert program.source is not None
    assert loaded(program.source)["total"]([1]) == 2


def test_blocks() -> None:
    assert fenced_blocks("a\n```\nb\n```\nc\n```py\nd\n") == ["b", "d\n"]
    assert fenced_blocks("````\n```\nx\n```\n````") == ["```\nx\n```"]
    assert fenced_blocks("none") == []


@given(st.lists(st.sampled_from([*FENCED.values(), *UNFENCED.values(), "```", "x =", '"""', "("])))
def test_any_text_is_read_in_good_time(parts: list[str]) -> None:
    began = time.process_time()
    program = assemble(PROMPT, "total", "\n".join(parts)[:20_000])
    assert time.process_time() - began < 10
    assert (program.source is None) == (program.extracted_by == "none")
    if program.source is not None:
        compile(program.source, "program", "exec")


def official_rows() -> list[dict[str, Any]]:
    path = SHARED / "data" / "humaneval_plus" / "HumanEvalPlus.jsonl.gz"
    if not path.is_file():
        pytest.skip("shared data not found: set SDLM_SHARED")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_official_solution_in_every_shape() -> None:
    """Assembled from any shape, a reference solution answers the first inputs as it does."""
    for row in official_rows():
        prompt, entry_point, body = row["prompt"], row["entry_point"], row["canonical_solution"]
        body = body.strip("\n")
        wanted = loaded(prompt + body)[entry_point]
        shapes = [
            fenced(prompt + body + "\n"),
            f"Of course!\n{fenced(prompt + body + chr(10))}Hope it helps.",
            fenced(body + "\n"),
            fenced(textwrap.dedent(body) + "\n"),
            body,
            body.strip(),
            prompt + body,
            f"```python\n{prompt}{body}\n\n{prompt}",
        ]
        inputs = json.dumps(row["base_input"][:2])
        for number, text in enumerate(shapes):
            program = assemble(prompt, entry_point, text)
            assert program.source is not None, (row["task_id"], number)
            got = loaded(program.source)[entry_point]
            for ours, theirs in zip(json.loads(inputs), json.loads(inputs), strict=True):
                assert got(*ours) == wanted(*theirs), (row["task_id"], number)
