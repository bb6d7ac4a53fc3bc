"""The sandbox, attacked: one property a test, for each way of containing programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks import sandbox as sandbox_module
from tasks import sandbox_command, sandbox_follow
from tasks.sandbox import METHODS, Sandbox, find_sandbox
from tasks.sandbox_attack_list import ATTACKS
from tasks.sandbox_attacks import SECRET_VARIABLE, World, planted_world, run_attack
from tasks.sandbox_command import Method
from tasks.sandbox_job import Ending, Job, Limits, SandboxError
from tasks.sandbox_syscalls import MACHINES, syscall_filter
from tasks.sandbox_values import Answer
from tasks.sandbox_watch import Usage, family, usage

ROOT = Path(__file__).resolve().parents[2]
#: Attacks that end at a CPU limit. Under `unshare` they are run by the slow suite only.
LONG = {
    *("endless loop while loading", "allocation in small pieces", "endless printing"),
    *("deaf to signals", "lifting the limits", "deep recursion", "huge integers"),
    *("deep nesting", "an endless output", "endless answers", "memory shared among children"),
}


def working(method: Method) -> Sandbox:
    try:
        return find_sandbox(methods=(method,))
    except ValueError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=METHODS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return working(request.param)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with planted_world() as made:
        yield made


def run(
    sandbox: Sandbox, program: str, *inputs: object, limits: Limits | None = None
) -> tuple[Ending, list[Any]]:
    """Run `f` of a program on each input; its outputs are all accepted."""
    outputs: list[Any] = []
    job = Job(
        program=program,
        entry_point="f",
        inputs=json.dumps([[given] for given in inputs]),
        line_bytes=[1 << 20] * len(inputs),
    )

    def accept(answer: Answer) -> None:
        outputs.append(answer.output().value)

    return sandbox.run(job, limits or Limits(), accept), outputs


@pytest.mark.parametrize(
    ("method", "name"),
    [
        pytest.param(
            method,
            name,
            marks=[pytest.mark.slow] if method == "unshare" and name in LONG else [],
            id=f"{method}-{name.replace(' ', '_')}",
        )
        for method in METHODS
        for name in ATTACKS
    ],
)
def test_an_attack_fails_and_leaves_nothing_behind(
    method: Method, name: str, world: World
) -> None:
    held = run_attack(working(method), name, world)
    assert not held.breaches
    assert held.ending.status in ("failed", "timeout")
    assert held.ending.reason


@pytest.mark.parametrize(
    "name",
    [
        "a socket to the machine",
        "a socket to elsewhere",
        "tracing the watcher",
        "new namespaces and mounts",
        "background children",
        "killing everyone",
    ],
)
def test_namespaces_hold_without_the_call_filter(
    sandbox: Sandbox, name: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_module, "syscall_filter", lambda: None)
    monkeypatch.setattr(sandbox_command, "syscall_filter", lambda: None)
    assert not run_attack(sandbox, name, world).breaches


def test_the_check_sees_what_an_uncontained_program_does(world: World) -> None:
    """The same attacks break through where nothing contains them, so `held` means something."""
    bare = Sandbox(method="none")
    for name in ("reading secrets from files", "a socket to the machine"):
        assert run_attack(bare, name, world).breaches


def test_namespaces_are_its_own(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[str]] = {}

    def look(pid: int) -> Usage:
        for member in family(pid):
            for kind in ("net", "pid", "mnt", "ipc", "uts"):
                try:
                    seen.setdefault(kind, set()).add(os.readlink(f"/proc/{member.pid}/ns/{kind}"))
                except OSError:
                    continue
        return usage(pid)

    monkeypatch.setattr(sandbox_follow, "usage", look)
    run(sandbox, "import time\ndef f(x): time.sleep(100)", 0, limits=Limits(idle_s=0.3))
    for kind in ("net", "pid", "mnt", "ipc", "uts"):
        assert seen[kind] - {os.readlink(f"/proc/self/ns/{kind}")}, kind


def test_a_program_has_no_powers_and_a_bare_environment(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "hidden")
    program = """
import ctypes, os

def f(x):
    libc = ctypes.CDLL(None)
    head, powers = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(head, powers)
    effective = [powers[0], powers[1], powers[3], powers[4]]
    return effective, libc.prctl(39, 0, 0, 0, 0), dict(os.environ), os.listdir("/"), os.getcwd()
"""
    ending, [(powers, no_new, environment, top, folder)] = run(sandbox, program, 0)
    assert ending.status == "done"
    assert powers == [0, 0, 0, 0]
    assert no_new == 1
    assert set(environment) - {"PWD", "LC_CTYPE"} == set(sandbox_command.ENVIRONMENT)
    assert folder == "/box"
    assert not {"proc", "sys", "run", "work"} & set(top)


def test_root_never_runs_a_program_as_itself(sandbox: Sandbox) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root changes the user")
    _, users = run(sandbox, "import os\ndef f(x): return os.getuid(), os.getgroups()", 0, 1)
    assert users[0] == users[1]
    assert users[0][0] >= sandbox_command.FIRST_USER
    assert users[0][1] == []


def test_the_throw_away_folder_is_new_each_time(sandbox: Sandbox) -> None:
    program = """
import os

def f(x):
    open("note", "w").write(x)
    return sorted(os.listdir())
"""
    for _ in range(2):
        ending, outputs = run(sandbox, program, "a", "b")
        assert ending.status == "done"
        assert outputs == [["note"], ["note"]]


def test_installed_packages_are_there(sandbox: Sandbox) -> None:
    program = """
import numpy

def f(x):
    return numpy.float64(0.5), numpy.int64(3), numpy.bool_(True), numpy.arange(3).tolist()
"""
    ending, outputs = run(sandbox, program, 0)
    assert ending.status == "done"
    assert outputs == [(0.5, 3, True, [0, 1, 2])]


def test_outputs_come_in_order_up_to_the_first_refusal(sandbox: Sandbox) -> None:
    seen: list[int] = []

    def accept(answer: Answer) -> str | None:
        seen.append(answer.index)
        return "enough" if answer.index == 3 else None

    job = Job(
        program="def f(x): return x",
        entry_point="f",
        inputs=json.dumps([[n] for n in range(10)]),
        line_bytes=[100] * 10,
    )
    assert sandbox.run(job, Limits(), accept) == Ending("failed", "enough", 3)
    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("def f(x) return x", "it raised SyntaxError"),
        ("def g(x): return x", "it raised KeyError"),
        ("def f(x): return 1 // x", "it raised ZeroDivisionError"),
        ("import no_such_module", "it raised ModuleNotFoundError"),
        ("import sys\nsys.exit(0)", "it raised SystemExit"),
        ("def f(x): return 'y' * 10**6 * 2", "an answer too long to be right"),
        ("f = None", "it raised TypeError"),
    ],
)
def test_a_faulty_program_fails(sandbox: Sandbox, program: str, reason: str) -> None:
    ending, outputs = run(sandbox, program, 0)
    assert ending == Ending("failed", reason, 0)
    assert outputs == []


def test_no_inputs_are_answered_at_once(sandbox: Sandbox) -> None:
    assert run(sandbox, "def f(x): return x")[0] == Ending("done", "", 0)


def test_a_program_that_wants_the_cpu_and_gets_none_is_not_failed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine: time goes by, the process is ready to run, no CPU time is used."""
    program = "import time\ndef f(x): return time.sleep(x)"
    limits = Limits(call_cpu_s=0.2, idle_s=0.2)
    monkeypatch.setattr(sandbox_follow, "usage", lambda pid: Usage(0.0, 0, 3, True))
    assert run(sandbox, program, 0.6, limits=limits)[0].status == "done"
    monkeypatch.setattr(sandbox_follow, "usage", lambda pid: Usage(0.0, 0, 3, False))
    assert run(sandbox, program, 0.6, limits=limits)[0].status == "timeout"


def test_the_limits_of_one_call_start_anew_with_each(sandbox: Sandbox) -> None:
    program = """
import time

def f(x):
    end = time.process_time() + x
    while time.process_time() < end:
        pass
"""
    limits = Limits(call_cpu_s=0.6)
    assert run(sandbox, program, *[0.2] * 6, limits=limits)[0].status == "done"
    ending, outputs = run(sandbox, program, 0.1, 30.0, 0.1, limits=limits)
    assert ending.status == "timeout"
    assert outputs == [None]


def test_all_calls_together_have_a_limit(sandbox: Sandbox) -> None:
    program = "def f(x): return sum(range(10**6))"
    ending, outputs = run(sandbox, program, *range(1000), limits=Limits(cpu_s=0.5))
    assert ending.status == "timeout"
    assert 0 < len(outputs) < 1000


def test_hash_order_is_the_same_each_time(sandbox: Sandbox) -> None:
    program = "def f(x): return list(set('abcdefghijklmnop'))"
    assert run(sandbox, program, 0)[1] == run(sandbox, program, 0)[1]


def test_sandboxes_side_by_side_do_not_meet(sandbox: Sandbox) -> None:
    program = """
import os

def f(x):
    before = os.listdir()
    open(x, "w").write(x)
    return before, os.listdir()
"""
    found: dict[str, Any] = {}
    threads = [
        threading.Thread(
            target=lambda name: found.update({name: run(sandbox, program, name)[1][0]}),
            args=(f"name{n}",),
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {f"name{n}": ([], [f"name{n}"]) for n in range(4)}


def test_no_sandbox_is_a_refusal_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ValueError, match="no sandbox for generated programs") as caught:
        find_sandbox()
    message = str(caught.value)
    assert "\n" not in message
    for part in ("bwrap is not installed", "unshare is not installed", "--unsafe-execution"):
        assert part in message
    assert find_sandbox(unsafe_execution=True) == Sandbox(method="none")


def test_a_sandbox_that_cannot_start_is_no_fault_of_the_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launcher = tmp_path / "bwrap"
    launcher.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1"
    )
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SandboxError, match="No permissions to create new namespace"):
        run(Sandbox(method="bwrap"), "def f(x): return x", 0)
    with pytest.raises(ValueError, match=r"bwrap: .*No permissions to create"):
        find_sandbox(methods=("bwrap",))


def test_an_uncontained_program_leaves_no_folder_and_no_child(tmp_path: Path) -> None:
    program = """
import os, time

def f(x):
    open("note", "w").write("x")
    if os.fork() == 0:
        time.sleep(100)
    return os.getcwd(), os.getpid()
"""
    _, [(folder, pid)] = run(Sandbox(method="none"), program, 0)
    assert not Path(folder).exists()
    deadline = time.monotonic() + 5
    while any(member.parent == pid for member in family(pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def test_the_filter_is_well_formed() -> None:
    for machine, known in MACHINES.items():
        steps = syscall_filter(machine)
        assert steps is not None
        assert len(steps) % 8 == 0
        assert len(set(known.refused)) == len(known.refused) == 32
    assert syscall_filter("pdp11") is None


def test_importing_tasks_imports_no_evalplus_and_starts_nothing() -> None:
    code = (
        "import sys, tasks, tasks.humaneval_plus, tasks.sandbox_attacks;"
        "sys.exit(bool({'evalplus', 'numpy', 'multiprocessing'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
