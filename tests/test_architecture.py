"""The rules that the code's shape follows: who imports whom, and how long things may be."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Package -> the packages of this project that it may import.
MAY_IMPORT = {
    "sdlm": set(),
    "decoders": {"sdlm"},
    "tasks": set(),
    "results": set(),
    "harness": {"sdlm", "decoders", "tasks", "results"},
}
WITHOUT_TORCH = ("tasks", "results")
OPTIONAL = ("ray", "torchao", "peft", "matplotlib", "lm_eval", "evalplus", "pynvml")
MOST_FILE_LINES, MOST_FUNCTION_LINES = 400, 60
FORBIDDEN_NAMES = {"utils", "common", "helpers"}


def files(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever in the file that stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield node.module


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package: str):
    allowed = MAY_IMPORT[package] | {package}
    wrong = [
        f"{module_name(path)} imports {name}"
        for path in files(package)
        for name in imported(path)
        if (top := name.partition(".")[0]) in MAY_IMPORT | {"tests": set()} and top not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("package", WITHOUT_TORCH)
def test_tasks_and_results_name_no_torch(package: str):
    tops = {name.partition(".")[0] for path in files(package) for name in imported(path)}
    assert not tops & {"torch", "transformers", "safetensors"}


# For a fresh interpreter: imports each module first, with our own forgotten before it, without
# sockets, and looks at what came along.
PROBE = """
import importlib, json, socket, sys

def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")

for name in ("socket", "create_connection", "getaddrinfo"):
    setattr(socket, name, type(name, (), {"__new__": refuse}) if name == "socket" else refuse)
packages, unwanted, modules = json.loads(sys.argv[1])
problems = []
for module in modules:
    for known in [name for name in sys.modules if name.partition(".")[0] in packages]:
        del sys.modules[known]
    try:
        importlib.import_module(module)
    except Exception as error:
        problems.append(f"{module} imported first: {type(error).__name__}: {error}")
    for name in unwanted:
        if name in sys.modules:
            problems.append(f"{module} brings {name} along")
            unwanted = [other for other in unwanted if other != name]
print(json.dumps(problems))
"""


def problems(modules: list[str], unwanted: tuple[str, ...] = ()) -> list[str]:
    task = json.dumps([list(MAY_IMPORT), list(unwanted), modules])
    done = subprocess.run(
        [sys.executable, "-c", PROBE, task], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def modules_of(*packages: str) -> list[str]:
    """All of them, but for those that run a program when imported."""
    return [module_name(path) for path in files(*packages) if path.stem != "__main__"]


def test_packages_load_nothing_that_not_everybody_has():
    packages = [module_name(path) for path in files(*MAY_IMPORT) if path.stem == "__init__"]
    assert set(MAY_IMPORT) <= set(packages)
    assert not problems(packages, OPTIONAL)


def test_each_module_can_be_imported_first():
    """No cycle is hidden by the order of imports, and none opens a socket. `tasks` and `results`
    come first, while it can be seen that they load no torch."""
    few = modules_of(*WITHOUT_TORCH)
    assert not problems(few, ("torch", "transformers"))
    assert not problems(modules_of("sdlm", "decoders", "harness"))


def test_each_optional_library_is_imported_in_one_file():
    """lm-eval in two: it gives us its tasks, and we give it our models. matplotlib in two: neither
    of those that draw may import the other."""
    users: dict[str, set[str]] = {}
    for path in files(*MAY_IMPORT):
        for name in imported(path):
            if (top := name.partition(".")[0]) in OPTIONAL:
                users.setdefault(top, set()).add(module_name(path))
    assert users.pop("lm_eval") == {"tasks.lm_eval_task", "harness.lm_eval_model"}
    assert users.pop("matplotlib") == {"results.drawing", "sdlm.retrofit.loss_plot"}
    assert not {library: names for library, names in users.items() if len(names) > 1}


def test_packages_export_and_do_nothing_else():
    wrong = [
        module_name(path)
        for path in files(*MAY_IMPORT)
        if path.stem == "__init__"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if not isinstance(
            node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.Expr
        )
    ]
    assert not wrong


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{module_name(path)}.{node.name}", node.end_lineno - node.lineno + 1


def test_files_and_functions_are_short():
    sizes = {
        module_name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in files(*MAY_IMPORT)
    }
    long_files = {name: lines for name, lines in sizes.items() if lines > MOST_FILE_LINES}
    long_functions = {
        name: lines
        for path in files(*MAY_IMPORT)
        for name, lines in functions(path)
        if lines > MOST_FUNCTION_LINES
    }
    assert not long_files
    assert not long_functions


def test_files_are_named_for_what_they_do():
    assert not [module_name(path) for path in files(*MAY_IMPORT) if path.stem in FORBIDDEN_NAMES]


def test_every_file_says_what_it_is_for():
    silent = [
        module_name(path)
        for path in files(*MAY_IMPORT)
        if path.stem != "__main__"
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent
