"""From a model's answer to a program: the code is found in the text and put behind its prompt.

A prompt is the beginning of a module: imports and helpers, then the signature and docstring of the
function asked for. Answers come as a fenced block in prose, as several blocks of which one
defines the function and others show its use, as the function's body alone (its indent kept, lost,
or lost on the first line), as a whole module without a fence, or cut off in the middle.

Tried in order, and the first that gives a program wins:
1. each fenced block, as a module that defines the function (the first one that does);
2. each fenced block, as the function's body;
3. the whole text, in the same two ways.
Code that does not compile loses lines at its end, then at its beginning, until it does. A module
gets the prompt's imports and helpers in front, a body the whole prompt. Nothing is run here.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import warnings
from typing import NamedTuple

from tasks.item import Extraction

FENCE = re.compile(r"^\s*(?:>\s*)?(?P<mark>`{3,}|~{3,})(?P<rest>.*)$")
TOP_LEVEL = re.compile(r"^(?:from|import|def|async|class|@|[A-Za-z_]\w*\s*=)")
#: More text than this holds no answer of a few hundred tokens; it is not searched.
MAX_CHARACTERS = 50_000
MAX_STARTS = 20
MAX_TRIMS = 100
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
UNREADABLE = (ValueError, RecursionError, MemoryError, OverflowError)


class Program(NamedTuple):
    """A program, or None; `marker` means that a fence declared it, `fallback` that it didn't."""

    source: str | None
    extracted_by: Extraction


def assemble(prompt: str, entry_point: str, text: str) -> Program:
    """The program that an answer to a prompt amounts to."""
    text = text.replace("\r\n", "\n")
    if not text.strip() or len(text) > MAX_CHARACTERS:
        return Program(None, "none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blocks = [block for block in fenced_blocks(text) if block.strip()]
        tries: tuple[tuple[list[str], Extraction], ...] = (
            (blocks, "marker"),
            ([text], "fallback"),
        )
        for candidates, label in tries:
            for reading in (_as_module, _as_body):
                for place, code in enumerate(candidates):
                    others = candidates[:place] + candidates[place + 1 :]
                    source = reading(prompt, entry_point, code, others)
                    if source is not None:
                        return Program(source, label)
    return Program(None, "none")


def fenced_blocks(text: str) -> list[str]:
    """The contents of the fenced blocks of a text; the last may be unclosed."""
    blocks: list[str] = []
    inside: list[str] | None = None
    mark = ""
    for line in text.split("\n"):
        fence = FENCE.match(line)
        if inside is None:
            if fence is not None:
                inside, mark = [], fence["mark"]
        elif fence is not None and fence["mark"].startswith(mark) and not fence["rest"].strip():
            blocks.append(textwrap.dedent("\n".join(inside)))
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        blocks.append(textwrap.dedent("\n".join(inside)))
    return blocks


class _Valid(NamedTuple):
    """Lines that compile behind a head, the tree of the whole, and whether lines had to go."""

    lines: list[str]
    tree: ast.Module
    cut: bool


def _as_module(prompt: str, entry_point: str, code: str, others: list[str]) -> str | None:
    """The code as a module of its own, behind the prompt's imports and helpers."""
    lines = code.split("\n")
    starts = [place for place, line in enumerate(lines) if place and TOP_LEVEL.match(line)]
    for start in [0, *starts[:MAX_STARTS]]:
        valid = _longest_valid("", lines[start:])
        module = _with_whole_function(valid, entry_point) if valid else None
        if module is None:
            continue
        future, rest = _split_future(module)
        front = [future, _preamble(prompt, entry_point), *_helpers(rest, entry_point, others)]
        source = "\n".join([part for part in front if part] + [rest]) + "\n"
        if _compiles(source):
            return source
    return None


def _with_whole_function(valid: _Valid, entry_point: str) -> str | None:
    """The module, if it defines the function and not only its signature and docstring.

    A later copy without a body, or the last one where lines had to go, was cut off: the copy
    before it counts.
    """
    found = [node for node in valid.tree.body if entry_point in _defined(node)]
    lines = valid.lines
    cut = valid.cut
    while len(found) > 1 and (cut or _is_stub(found[-1])):
        lines = lines[: _first_line(found.pop()) - 1]
        cut = False
    return None if not found or _is_stub(found[-1]) else "\n".join(lines)


def _as_body(prompt: str, entry_point: str, code: str, others: list[str]) -> str | None:
    """The code as what follows the prompt, with the indent that makes it a function's body."""
    head = prompt.rstrip() + "\n"
    lines = code.strip("\n").split("\n")
    first_indented = next((n for n, line in enumerate(lines) if line[:1] in (" ", "\t")), 0)
    shifts = [lines, [*_indented(lines[:1]), *lines[1:]], _indented(lines), lines[first_indented:]]
    best: list[str] = []
    for shifted in shifts:
        valid = _longest_valid(head, shifted)
        if valid and len(valid.lines) > len(best) and _has_body(valid.tree, entry_point):
            best = valid.lines
    return head + "\n".join(best) + "\n" if best else None


def _longest_valid(head: str, lines: list[str]) -> _Valid | None:
    """The most lines from the start that compile behind a head.

    A syntax error in a line stays there as long as the line does, so the line is the next to go.
    """
    above = head.count("\n")
    length = len(lines)
    for _ in range(MAX_TRIMS):
        if length <= 0:
            return None
        source = head + "\n".join(lines[:length]) + "\n"
        try:
            compile(source, "<answer>", "exec", dont_inherit=True)
            return _Valid(lines[:length], ast.parse(source), length < len(lines))
        except SyntaxError as error:
            length = min(length - 1, max((error.lineno or 0) - above - 1, 0) or length - 1)
        except UNREADABLE:
            length -= 1
    return None


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" if line.strip() else line for line in lines]


def _has_body(tree: ast.Module, entry_point: str) -> bool:
    """Whether the function is there once, and returns something itself, not only in a helper."""
    found = [node for node in tree.body if entry_point in _defined(node)]
    if len(found) != 1:
        return False
    inside: list[ast.AST] = list(ast.iter_child_nodes(found[0]))
    for node in inside:
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Raise):
            return True
        if not isinstance(node, Definition | ast.Lambda):
            inside.extend(ast.iter_child_nodes(node))
    return False


def _is_stub(node: ast.stmt) -> bool:
    """Whether a definition has a docstring at most."""
    return isinstance(node, Definition) and all(
        isinstance(part, ast.Pass)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )


def _first_line(node: ast.stmt) -> int:
    """The line where a statement starts, with its decorators."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _defined(node: ast.stmt) -> set[str]:
    """The names that a top-level statement defines."""
    if isinstance(node, Definition):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {target.id for target in targets if isinstance(target, ast.Name)}
    return set()


def _preamble(prompt: str, entry_point: str) -> str:
    """What the prompt has before the function: imports and helpers."""
    tree = _compiles(prompt.rstrip() + "\n    pass\n") or _compiles(prompt)
    if tree is None:
        return ""
    for node in tree.body:
        if entry_point in _defined(node):
            return "\n".join(prompt.split("\n")[: _first_line(node) - 1]).strip()
    return ""


def _split_future(module: str) -> tuple[str, str]:
    """A module's imports from `__future__`, which must come first, and the rest."""
    lines = module.split("\n")
    future = [line for line in lines if line.startswith("from __future__ ")]
    return "\n".join(future), "\n".join(line for line in lines if line not in future)


def _helpers(module: str, entry_point: str, others: list[str]) -> list[str]:
    """Definitions and imports in other blocks of the names that a module uses but lacks."""
    tree = _compiles(module)
    if tree is None:
        return []
    present = {name for node in tree.body for name in _defined(node)} | {entry_point}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found: list[str] = []
    for other in others:
        for node in getattr(_compiles(other), "body", []):
            names = _defined(node)
            if names & used and not names & present and _is_harmless(node):
                found.append(ast.unparse(node))
                present |= names
    return found


def _is_harmless(node: ast.stmt) -> bool:
    """Whether a statement of another block is a definition or an import that can be had."""
    if isinstance(node, ast.Import):
        return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in sys.stdlib_module_names
    return isinstance(node, Definition)


def _compiles(source: str) -> ast.Module | None:
    """The syntax tree of code that compiles as a module."""
    valid = _longest_valid("", [source])
    return valid.tree if valid else None
