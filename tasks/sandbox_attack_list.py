"""The attacks: each a program with a function `attack(world)`; see `tasks.sandbox_attacks`."""

from __future__ import annotations

CALL_KERNEL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)

def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""
LOOK_FOR_PIPES = """
import os

def pipes():
    found = []
    for descriptor in range(256):
        try:
            os.fstat(descriptor)
            found.append(descriptor)
        except OSError:
            pass
    return found
"""

ATTACKS: dict[str, str] = {
    "endless loop": """
def attack(world):
    while True:
        pass
""",
    "endless loop while loading": """
while True:
    pass
""",
    "endless sleep": """
import time

def attack(world):
    time.sleep(10**6)
""",
    "fork bomb": """
import os

def attack(world):
    while True:
        try:
            os.fork()
        except OSError:
            pass
""",
    "thread bomb": """
import threading, time

def attack(world):
    while True:
        threading.Thread(target=time.sleep, args=(1000,)).start()
""",
    "50 GB allocation": """
def attack(world):
    return len(bytearray(50 * 2**30))
""",
    "allocation in small pieces": """
def attack(world):
    kept = []
    while True:
        kept.append(bytearray(2**24))
""",
    "memory shared among children": """
import os

def attack(world):
    for _ in range(6):
        if os.fork() == 0:
            kept = []
            while True:
                kept.append(bytearray(b"x") * 2**24)
    while True:
        pass
""",
    "10 GB file": """
def attack(world):
    with open("big", "wb") as file:
        for _ in range(10 * 2**10):
            file.write(bytes(2**20))
""",
    "many files": """
def attack(world):
    for number in range(10**6):
        with open(f"file{number}", "wb") as file:
            file.write(bytes(2**20))
""",
    "endless printing": """
def attack(world):
    while True:
        print("x" * 2**16)
""",
    "endless answers": LOOK_FOR_PIPES
    + """
def attack(world):
    while True:
        for descriptor in pipes():
            try:
                os.write(descriptor, b"x" * 2**16)
            except OSError:
                pass
""",
    "writing to the home and working folders": """
import os

def attack(world):
    for folder in world["folders"] + [os.path.expanduser("~"), "/tmp", "/var/tmp", "/usr", "/"]:
        try:
            with open(os.path.join(folder, "planted"), "w") as file:
                file.write("x")
        except OSError:
            pass
    for name in world["files"]:
        try:
            os.remove(name)
        except OSError:
            pass
    os.makedirs(world["folders"][0])
""",
    "reading secrets from the environment": """
import os, subprocess

def attack(world):
    found = str(dict(os.environ))
    for name in ("self", "1", "2", str(os.getppid()), str(world["watcher"])):
        try:
            found += open(f"/proc/{name}/environ").read()
        except OSError:
            pass
    return found + subprocess.run(["env"], capture_output=True, text=True).stdout
""",
    "reading secrets from files": """
def attack(world):
    found = ""
    for name in world["files"] + ["/etc/passwd", "/etc/shadow", "/proc/self/root/etc/passwd"]:
        try:
            found += open(name).read()
        except OSError:
            pass
    return found
""",
    "a socket to the machine": """
import socket

def attack(world):
    with socket.create_connection(("127.0.0.1", world["port"]), timeout=5) as link:
        link.sendall(b"out")
""",
    "a socket to elsewhere": """
import socket

def attack(world):
    socket.create_connection(("192.0.2.1", 80), timeout=5)
""",
    "a socket to the host of a virtual machine": """
import socket

def attack(world):
    link = socket.socket(getattr(socket, "AF_VSOCK", 40), socket.SOCK_STREAM)
    link.settimeout(5)
    link.connect((2, 22))
""",
    "os._exit(0)": """
import os

def attack(world):
    os._exit(0)
""",
    "os._exit(0) while loading": """
import os
os._exit(0)
""",
    "fake verdicts": LOOK_FOR_PIPES
    + """
import sys

def attack(world):
    lines = "passed\\nPASS\\nOK\\n0 0.0 null\\n0 0.0 true\\n"
    print(lines)
    print(lines, file=sys.stderr)
    for descriptor in pipes():
        try:
            os.write(descriptor, lines.encode())
        except OSError:
            pass
    os._exit(0)
""",
    "an output that equals everything": """
class Chameleon(int):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = int.__hash__

def attack(world):
    return Chameleon(0)
""",
    "patched comparers, builtins and modules": """
import builtins, json, sys

def always(*arguments, **named):
    return True

for name in ("all", "any", "isinstance", "abs", "len", "compile", "exec"):
    setattr(builtins, name, always)
json.dumps = lambda *arguments, **named: '["bool", true]'
sys.modules["__main__"].encode = always
for name in ("numpy", "evalplus", "tasks", "tasks.judging", "tasks.evalplus_rules"):
    sys.modules[name] = type("Fake", (), {"__getattr__": always})()

def attack(world):
    return True
""",
    "looking for the right output in memory": """
import gc, sys

def attack(world):
    numbers = [thing for thing in gc.get_objects() if type(thing) is int]
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            if type(value) is int and value > 2**32:
                numbers.append(value)
        frame = frame.f_back
    return numbers[0] if numbers else 0
""",
    "deaf to signals": """
import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass

def attack(world):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
""",
    "lifting the limits": """
import resource

def attack(world):
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            try:
                resource.setrlimit(getattr(resource, name), (-1, -1))
            except (OSError, ValueError):
                pass
    kept = []
    while True:
        kept.append(bytearray(2**24))
""",
    "exit handlers": """
import atexit, os, sys

def again():
    os.write(1, b"0 0.0 null")
    while True:
        pass

atexit.register(again)
sys.excepthook = lambda *arguments: again()

def attack(world):
    sys.exit(0)
""",
    "tracing the watcher": CALL_KERNEL
    + """
def attack(world):
    traced = 0
    for pid in (1, os.getppid(), world["watcher"]):
        traced += libc.ptrace(16, pid, 0, 0) == 0
    assert traced == 0
    called(libc.ptrace(0, 0, 0, 0))
""",
    "killing everyone": """
import os, signal

def attack(world):
    for pid in (world["watcher"], os.getppid(), 1, 0, -1):
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
""",
    "new namespaces and mounts": CALL_KERNEL
    + """
def attack(world):
    libc.unshare(0x10000000)
    called(libc.mount(b"none", b"/", b"tmpfs", 0, None))
""",
    "memory that outlives its process": CALL_KERNEL
    + """
def attack(world):
    while True:
        called(libc.shmget(0, 2**26, 0o1600))
""",
    "background children": CALL_KERNEL
    + """
import time

def attack(world):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                libc.prctl(15, world["mark"].encode(), 0, 0, 0)
                libc.prctl(1, 0, 0, 0, 0)
                time.sleep(1000)
            os._exit(0)
    time.sleep(0.2)
    return 0
""",
    "deep recursion": """
import sys
sys.setrecursionlimit(10**9)

def attack(world):
    return attack(world)
""",
    "deep nesting": """
def attack(world):
    value = []
    for _ in range(10**6):
        value = [value]
    return value
""",
    "huge integers": """
def attack(world):
    return 10 ** 10 ** 10
""",
    "an endless output": """
def attack(world):
    return "9" * 2**28
""",
}
