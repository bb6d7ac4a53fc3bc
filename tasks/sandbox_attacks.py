"""Programs that try to harm the machine or to forge a verdict, and what must hold after each.

`python -m harness sandbox-check` runs them all and the tests run each. An attack is a program
with a function `attack(world)`, told more of the machine than a generated program could know:
where secrets and open ports are, and who watches. It is judged like any program, against an
output it is not told, so it must end as failed or timed out; and nothing outside may have changed.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tasks.sandbox import Sandbox
from tasks.sandbox_attack_list import ATTACKS
from tasks.sandbox_job import Ending, Job, Limits
from tasks.sandbox_values import Answer

ATTACK_LIMITS = Limits(call_cpu_s=0.5, cpu_s=2.0, idle_s=1.0, wall_s=60.0)
SECRET_VARIABLE = "SANDBOX_CHECK_SECRET"
LINE_BYTES = 1 << 20


class Held(NamedTuple):
    """What became of an attack: `breaches` is empty where everything held."""

    name: str
    ending: Ending
    breaches: list[str]
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What attacks aim at: planted secrets, folders that must stay as they are, an open port."""

    secret: str
    folders: tuple[Path, ...]
    files: tuple[Path, ...]
    listener: socket.socket
    mark: str

    def told(self) -> dict[str, object]:
        """What an attack is told."""
        return {
            "files": [str(path) for path in self.files],
            "folders": [str(path) for path in self.folders],
            "port": self.listener.getsockname()[1],
            "watcher": os.getpid(),
            "mark": self.mark,
        }


@contextmanager
def planted_world() -> Generator[World]:
    """A world with a secret in the environment, in the home folder, here and in a plain file."""
    secret, mark = secrets.token_hex(16), f"atk{secrets.token_hex(5)}"
    before = os.environ.get(SECRET_VARIABLE)
    with ExitStack() as stack:
        folders = tuple(
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=mark, dir=parent)))
            for parent in (Path.home(), Path.cwd(), Path(tempfile.gettempdir()))
            if os.access(parent, os.W_OK)
        )
        files = tuple(folder / "secret.txt" for folder in folders)
        for file in files:
            file.write_text(secret)
            file.chmod(0o644)
        for folder in folders:
            folder.chmod(0o777)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)
        os.environ[SECRET_VARIABLE] = secret
        try:
            yield World(secret=secret, folders=folders, files=files, listener=listener, mark=mark)
        finally:
            os.environ.pop(SECRET_VARIABLE)
            if before is not None:
                os.environ[SECRET_VARIABLE] = before


def run_attack(sandbox: Sandbox, name: str, world: World) -> Held:
    """One attack, and what it broke."""
    wanted = secrets.randbelow(1 << 60)
    outputs: list[bytes] = []

    def accept(answer: Answer) -> str | None:
        outputs.append(answer.told)
        return None if answer.output().value == wanted else "wrong output"

    job = Job(
        program=ATTACKS[name],
        entry_point="attack",
        inputs=json.dumps([[world.told()]]),
        line_bytes=[LINE_BYTES],
    )
    began = time.monotonic()
    ending = sandbox.run(job, ATTACK_LIMITS, accept)
    wall_s = time.monotonic() - began
    return Held(name, ending, _breaches(world, ending, b"".join(outputs)), wall_s)


def run_attacks(sandbox: Sandbox) -> Iterator[Held]:
    """All attacks, one after the other."""
    with planted_world() as world:
        for name in ATTACKS:
            yield run_attack(sandbox, name, world)


def _breaches(world: World, ending: Ending, output: bytes) -> list[str]:
    """Everything that did not hold, in words."""
    breaches: list[str] = []
    if ending.status == "done":
        breaches.append("it was judged right")
    if world.secret.encode() in output:
        breaches.append("it read a secret")
    for folder, file in zip(world.folders, world.files, strict=True):
        if list(folder.iterdir()) != [file] or file.read_text() != world.secret:
            breaches.append(f"it wrote to {folder}")
    try:
        world.listener.accept()[0].close()
        breaches.append("it reached a port of this machine")
    except BlockingIOError:
        pass
    if _is_alive(world.mark):
        breaches.append("a process outlived it")
    return breaches


def _is_alive(mark: str) -> bool:
    """Whether a process that calls itself by the mark is left, a moment later at the latest."""
    for _ in range(20):
        if not any(_name(entry) == mark for entry in os.listdir("/proc") if entry.isdecimal()):
            return False
        time.sleep(0.05)
    return True


def _name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
