"""Runs the command line in children that can be killed, all of them cut off from the network.

    python -m tests.harness.forking ATTEMPTS ARGUMENT...

runs the command line once with these arguments, so that what is imported late need not be in every
child. Then every line of standard input asks for one child:

    {"arguments": [...], "output": FILE, "watched": FOLDER or null, "kill_at": N, "delay_s": S}

answered by a line with its exit status, negative for a signal. With `watched`, the child is killed
S seconds after the sample files below it hold N lines. What a child prints goes to `output`. Every
attempt to reach another machine is refused and noted in the file ATTEMPTS.
"""

import json
import os
import signal
import socket
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn


def main(attempts: Path, first: list[str]) -> None:
    cut_off(attempts)
    from harness.cli import app

    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        app(first, standalone_mode=False)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            become(app, request)
        print(json.dumps({"status": waited(child, request)}), flush=True)


def cut_off(attempts: Path) -> None:
    def refuse(*arguments: Any, **_: Any) -> NoReturn:
        with attempts.open("a") as file:
            file.write(f"{arguments[-1]}\n")
        raise OSError("no network in this test")

    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        setattr(socket, name, refuse)


def become(app: Any, request: dict[str, Any]) -> NoReturn:
    """Run the command and end as its own process would."""
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    status = 1
    try:
        app(request["arguments"])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def waited(child: int, request: dict[str, Any]) -> int:
    watched = request["watched"]
    while True:
        ended, status = os.waitpid(child, os.WNOHANG if watched else 0)
        if ended:
            return os.waitstatus_to_exitcode(status)
        files = Path(watched).glob("samples/*/*.jsonl")
        if sum(file.read_bytes().count(b"\n") for file in files) >= request["kill_at"]:
            time.sleep(request["delay_s"])
            os.kill(child, signal.SIGKILL)
            watched = None
        time.sleep(0.002)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
