"""What a run says of its machine: how much of it other programs take."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import machine
from harness.machine import LoadMeter, _own_s, load_warning, usable_cores
from tests.harness.tiny import OUR_OWN_ITEMS, harness, manifest

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]


@pytest.fixture
def clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Clocks that are set: seconds since the start, of this process, and busy ones of each core
    by kind. Two of three cores are ours."""
    now: dict[str, float] = {}
    monkeypatch.setattr(machine, "_STAT", tmp_path / "stat")
    monkeypatch.setattr(machine, "usable_cores", lambda: [0, 2])
    monkeypatch.setattr(machine, "_own_s", lambda: now["own"])
    monkeypatch.setattr(machine.time, "perf_counter", lambda: now["wall"])
    monkeypatch.setattr(machine.time, "sleep", lambda seconds: now.update(slept=seconds))
    monkeypatch.setattr(machine.os, "sysconf", lambda _: 100)

    def put(*, wall: float, own: float, **cores: list[int]) -> None:
        now.update(wall=wall, own=own)
        rows = [f"{core} {' '.join(map(str, ticks))}" for core, ticks in cores.items()]
        (tmp_path / "stat").write_text("\n".join(["cpu 9 9 9", *rows, "intr 5 5"]))

    return put


def test_what_others_take_is_what_is_busy_but_for_our_own(clocks: Callable[..., None]):
    #                      user nice system idle iowait irq softirq steal
    idle = [100, 0, 0, 1000, 5, 0, 0, 0]
    clocks(wall=10.0, own=2.0, cpu0=idle, cpu1=idle, cpu2=idle)
    meter = LoadMeter()
    # One second: 0.6 s of work on one core and 0.9 s on the other, 0.7 s of it ours.
    clocks(
        wall=11.0,
        own=2.7,
        cpu0=[120, 10, 10, 1040, 5, 5, 5, 10],
        cpu1=[200, 0, 0, 1000, 5, 0, 0, 0],
        cpu2=[190, 0, 0, 1010, 50, 0, 0, 0],
    )
    assert meter.share() == pytest.approx((0.6 + 0.9 - 0.7) / 2)


def test_a_share_is_one(clocks: Callable[..., None]):
    clocks(wall=0.0, own=0.0, cpu0=[0] * 8, cpu2=[1] + [0] * 7)
    meter = LoadMeter()
    clocks(wall=1.0, own=1.5, cpu0=[10] + [0] * 7, cpu2=[10] + [0] * 7)
    assert meter.share() == 0
    clocks(wall=1.0, own=0.0, cpu0=[900] + [0] * 7, cpu2=[900] + [0] * 7)
    assert meter.share() == 1


def test_where_nobody_says_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(machine, "_STAT", tmp_path / "nowhere")
    assert LoadMeter().share() is None
    assert load_warning(None) is None


def test_only_a_notable_share_is_worth_a_line():
    assert load_warning(0.15) is None
    line = load_warning(0.5)
    cores = len(usable_cores())
    assert line is not None
    assert f"{0.5 * cores:.1f} of {cores} usable cores (50%)" in line


@pytest.mark.skipif(
    not [*Path("/proc/self/task").glob("*/children")],
    reason="nobody says whose children there are",
)
def test_what_processes_below_take_is_our_own_while_they_live_and_after():
    work = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True); input()"
    command = ["sh", "-c", '"$0" -c "$1"; exit', sys.executable, work]
    before_s = _own_s()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        live_s = _own_s()
    # Clocks tick a hundred times a second.
    assert live_s - before_s >= 0.18
    assert _own_s() >= live_s - 0.02


@pytest.mark.parametrize(("share", "said"), [(0.4, 1), (0.05, 0), (None, 0)])
def test_a_run_says_it_and_records_it(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float | None, said: int
):
    monkeypatch.setattr(LoadMeter, "share", lambda _: share)
    options = ["--limit", 1, "--max-new-tokens", 2, "--decoders", "ar", "--out", tmp_path / "run"]
    result = harness("run", "--model", model, *options)
    assert result.exit_code == 0
    assert result.stderr.count("other programs take") == said
    assert "other programs" not in result.stdout
    (invocation,) = manifest(tmp_path / "run")["invocations"]
    assert invocation["other_load"] == share


def test_code_is_changed_where_code_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And not by an environment, data or figures laid beside it."""
    (tmp_path / "harness").mkdir()
    code = tmp_path / "harness" / "machine.py"
    code.touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "code"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(machine, "__file__", str(code))
    commit = machine.git_commit()
    assert commit is not None
    assert not commit.endswith("+")
    (tmp_path / "train.jsonl").touch()
    assert machine.git_commit() == commit
    (tmp_path / "harness" / "new.py").touch()
    assert machine.git_commit() == f"{commit}+"
