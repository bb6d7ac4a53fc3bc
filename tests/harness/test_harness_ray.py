"""`--engine ray`: the records of a local run, whatever gets lost on the way."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from harness.engine import Joined, check_same
from harness.jobs import MOST_LOST, Job
from harness.placement import Node, Placement, place
from harness.run_config import RunConfig
from harness.shards import Shard, Turn
from results import RunStore, SampleRecord
from tests.harness.conftest import ROOT
from tests.harness.tiny import (
    OUR_OWN_ITEMS,
    harness,
    manifest,
    outcomes,
    records,
    refused,
    summary,
)

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]

OWN_DECODER = "tests.fakes:SomeDecoder(tau=0.9,stride=2)"
CHOSEN = f"ar,greedy-confidence(tau=0.6),self-speculative,{OWN_DECODER}"
OPTIONS: dict[str, object] = {
    "--data": "embedded",
    "--limit": 7,
    "--max-new-tokens": 14,
    "--decoders": CHOSEN,
    "--batch-sizes": "1,2",
}


def arguments(model: Path, out: Path, *more: object, **changed: object) -> list[str]:
    named = {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    flat = [part for pair in (OPTIONS | named).items() for part in pair]
    return [str(part) for part in ("run", "--model", model, "--out", out, *flat, *more)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        node = {"num_cpus": 2, "object_store_memory": 100 * 2**20, "include_dashboard": False}
        started = Cluster(initialize_head=True, head_node_args=node)
        yield started
        started.shutdown()


@pytest.fixture(scope="module")
def local(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run by one local worker; not to be changed."""
    folder = tmp_path_factory.mktemp("local") / "run"
    result = harness(*arguments(model, folder))
    assert result.exit_code == 0, result.output
    return folder


def on_ray(cluster: Cluster, workers: int = 2) -> list[object]:
    return ["--engine", "ray", "--workers", workers, "--ray-address", cluster.address]


def assert_same_records(folder: Path, local: Path) -> None:
    assert outcomes(folder) == outcomes(local)
    samples = (folder / "samples").rglob("*.jsonl")
    lines = [line for path in samples for line in path.read_text().splitlines()]
    assert len(lines) == len(outcomes(local))
    assert manifest(folder)["config"] == manifest(local)["config"]


# Processes: Ray names its workers after the class and the method that they are at.


def children_of(parents: set[int]) -> dict[int, str]:
    """The processes below some, near or far, and how they are called."""
    found: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            stat = (entry / "stat").read_text()
            called = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state != "Z":  # one that has ended and waits to be fetched
            found[int(entry.name)] = (int(parent), called)
    below = set(parents)
    while more := {pid for pid, (parent, _) in found.items() if parent in below} - below:
        below |= more
    return {pid: found[pid][1] for pid in below - parents if pid in found}


def workers_of(cluster: Cluster) -> list[int]:
    raylets = {
        process.process.pid
        for node in cluster.list_all_nodes()
        for process in node.all_processes["raylet"]
    }
    called = children_of(raylets)
    return sorted(pid for pid, name in called.items() if name.startswith("ray::RayWorker"))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def soon(true: Callable[[], object], seconds: float = 30.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.02)
    return False


def samples(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("samples/*/*.jsonl"))


@pytest.fixture
def on_append(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Have a function called with the number of records kept, after each."""
    append = RunStore.append

    def watch(call: Callable[[int], None]) -> None:
        def watched(self: RunStore, record: SampleRecord) -> None:
            append(self, record)
            call(len(self.records))

        monkeypatch.setattr(RunStore, "append", watched)

    return watch


# The same.


def test_two_workers_give_the_records_of_a_local_run(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path, on_append: Any
):
    seen: set[int] = set()
    on_append(lambda _: seen.update(workers_of(cluster)))
    result = harness(*arguments(model, tmp_path / "run", *on_ray(cluster)))
    assert result.exit_code == 0, result.output
    assert_same_records(tmp_path / "run", local)
    assert len(seen) == 2
    found = manifest(tmp_path / "run")
    (invocation,) = found["invocations"]
    assert (invocation["engine"], invocation["workers"]) == ("ray", 2)
    assert invocation["threads"] == invocation["hardware"]["threads"] == 1
    assert [each["threads"] for each in found["hosts"].values()] == [1]
    assert found["warmup_s"].keys() == manifest(local)["warmup_s"].keys()
    assert soon(lambda: not workers_of(cluster))


# Lost workers.


def kills(
    cluster: Cluster,
    model: Path,
    local: Path,
    folder: Path,
    on_append: Any,
    *,
    count: int,
    seed: int,
) -> None:
    """Kill a random worker at `count` random moments of one run."""
    rng = random.Random(seed)
    moments = sorted(rng.sample(range(1, len(outcomes(local)) - 10), count))
    killed: list[int] = []

    def kill(kept: int) -> None:
        # What both had said before they were killed may still be arriving.
        found = [pid for pid in workers_of(cluster) if pid not in killed]
        if moments and kept >= moments[0] and found:
            moments.pop(0)
            killed.append(rng.choice(found))
            os.kill(killed[-1], signal.SIGKILL)

    on_append(kill)
    result = harness(*arguments(model, folder, *on_ray(cluster), "--json"))
    assert result.exit_code == 0, result.output
    assert len(killed) == count
    # Ray has much to say of lost workers, and none of it is a result.
    assert len(json.loads(result.stdout)) == 8
    assert_same_records(folder, local)


def test_killed_workers_lose_and_double_nothing(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path, on_append: Any
):
    kills(cluster, model, local, tmp_path / "run", on_append, count=3, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_workers_killed_ten_times_lose_and_double_nothing(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path, on_append: Any, seed: int
):
    kills(cluster, model, local, tmp_path / "run", on_append, count=10, seed=seed)


@pytest.mark.slow
def test_a_lost_node_loses_and_doubles_nothing(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path, on_append: Any
):
    node = cluster.add_node(num_cpus=2, object_store_memory=100 * 2**20)

    def lose(kept: int) -> None:
        if kept == 20:
            cluster.remove_node(node, allow_graceful=False)

    on_append(lose)
    result = harness(*arguments(model, tmp_path / "run", *on_ray(cluster, 4)))
    assert result.exit_code == 0, result.output
    assert_same_records(tmp_path / "run", local)


@pytest.mark.slow
def test_a_shard_that_kills_its_workers_ends_the_run(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path, on_append: Any
):
    """Which goes on where another engine, or a later day, gets further."""
    deadly = f"ar,tests.fakes:DeadlyDecoder(tau=0.9),{OWN_DECODER}"
    changed = {"decoders": deadly, "limit": 2, "batch_sizes": 1}
    result = harness(*arguments(model, tmp_path / "run", *on_ray(cluster, 1), **changed))
    assert result.exit_code == 2
    *others, last = result.stderr.splitlines()
    assert last.startswith("error: 3 workers in a row were lost on the same ")
    assert "gsm8k at batch size 1" in last
    assert "--resume" in last
    assert sum(line.startswith("a worker was lost") for line in others) == MOST_LOST - 1
    assert len(records(tmp_path / "run")) == 1
    assert soon(lambda: not workers_of(cluster))


def shard(*counts: int) -> Shard:
    turns = tuple(Turn(f"d{place}", tuple(range(count))) for place, count in enumerate(counts))
    return Shard(task="gsm8k", batch_size=1, repeat=0, numbers=(0, 1, 2), turns=turns)


def test_only_workers_lost_without_a_sample_between_count(capsys: pytest.CaptureFixture[str]):
    job = Job(shard=shard(3, 3))
    for left in (shard(3, 3), shard(3, 3)):
        job = job.again(left, "killed")
    job = job.again(shard(2, 3), "killed")
    assert job == Job(shard=shard(2, 3), lost=1)
    job = job.again(shard(2, 3), "killed")
    assert capsys.readouterr().err.count("killed") == 4
    with pytest.raises(ChildProcessError, match=r"3 workers in a row .* same 5 samples of gsm8k"):
        job.again(shard(2, 3), "killed")


# The driver.


def started(*command: str) -> subprocess.Popen[str]:
    """The command line in a process of its own, with a Ray of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end(driver: subprocess.Popen[str], folder: Path, kept: int, how: signal.Signals) -> str:
    """Send a signal to the driver once it has kept so many samples; nothing of it survives."""
    try:
        assert soon(lambda: samples(folder) >= kept or driver.poll() is not None, 120)
        assert driver.poll() is None, driver.communicate()
        below = children_of({driver.pid})
        assert any(name.startswith("ray::RayWorker") for name in below.values())
        driver.send_signal(how)
        output, _ = driver.communicate(timeout=60)
        # After SIGKILL, which leaves nobody to end them, agents of Ray's stay about a minute.
        ends = [pid for pid, name in below.items() if "Agent" not in name or how != signal.SIGKILL]
        assert soon(lambda: not any(map(alive, ends)))
    finally:
        driver.kill()
    return output


def test_a_killed_driver_s_run_is_ended_by_another_engine(
    model: Path, local: Path, tmp_path: Path
):
    folder = tmp_path / "run"
    driver = started(*arguments(model, folder, "--engine", "ray"))
    end(driver, folder, 9, signal.SIGKILL)
    kept = outcomes(folder)
    assert 9 <= len(kept) < len(outcomes(local))
    assert kept.items() <= outcomes(local).items()
    assert harness(*arguments(model, folder, "--resume")).exit_code == 0
    assert_same_records(folder, local)
    assert [each["engine"] for each in manifest(folder)["invocations"]] == ["ray", "local"]


def test_a_stopped_driver_leaves_no_worker_on_a_cluster(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path
):
    folder = tmp_path / "run"
    driver = started(*arguments(model, folder, *on_ray(cluster)))
    try:
        assert soon(lambda: samples(folder) >= 5 or driver.poll() is not None, 120)
        assert workers_of(cluster)
        driver.send_signal(signal.SIGTERM)
        output, _ = driver.communicate(timeout=60)
    finally:
        driver.kill()
    assert driver.returncode == 143, output
    assert "Traceback" not in output
    kept = len(outcomes(folder))
    assert f"stopped by SIGTERM with {kept} of {len(outcomes(local))} samples done" in output
    assert sum(row["items"] for row in summary(folder)) == kept
    # No batch was left half measured.
    half = [key for key in outcomes(folder) if key.batch_size == 2]
    assert len(half) % 7 == 0
    assert soon(lambda: not workers_of(cluster))
    assert outcomes(folder).items() <= outcomes(local).items()


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stopped_driver_ends_its_own_ray(
    model: Path, tmp_path: Path, how: signal.Signals, status: int
):
    driver = started(*arguments(model, tmp_path / "run", "--engine", "ray", limit=100))
    output = end(driver, tmp_path / "run", 5, how)
    assert driver.returncode == status, output
    assert "Traceback" not in output


def test_ray_ends_what_a_local_engine_began(
    cluster: Cluster, model: Path, local: Path, tmp_path: Path
):
    """With a batch size from memory, which is found once."""
    folder = tmp_path / "run"
    changed = {"limit": 3, "decoders": "ar,block-ar"}
    command = arguments(model, folder, **changed)
    place = command.index("--batch-sizes")
    command[place : place + 2] = ["--batch-size", "auto"]
    result = harness(*command)
    assert result.exit_code == 0, result.output
    assert "batch size 3: what memory has room for" in result.stderr
    whole = outcomes(folder)
    path = folder / "samples" / "gsm8k" / "ar.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    result = harness(*command, "--resume", *on_ray(cluster, 1))
    assert result.exit_code == 0, result.output
    assert outcomes(folder) == whole
    engines = [(each["engine"], each["workers"]) for each in manifest(folder)["invocations"]]
    assert engines == [("local", 1), ("ray", 1)]


@pytest.mark.slow
def test_the_first_worker_finds_the_batch_size_for_all(
    cluster: Cluster, model: Path, tmp_path: Path
):
    command = arguments(model, tmp_path / "run", *on_ray(cluster), limit=5, decoders="ar")
    place = command.index("--batch-sizes")
    command[place : place + 2] = ["--batch-size", "auto"]
    result = harness(*command)
    assert result.exit_code == 0, result.output
    assert "batch size 5: what memory has room for" in result.stderr
    assert manifest(tmp_path / "run")["config"]["batch_sizes"] == [5]
    assert {key.batch_size for key in records(tmp_path / "run")} == {5}


# What a user gets wrong.


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--workers", 2], ["--workers 2", "--engine ray"]),
        (["--ray-address", "auto"], ["--ray-address 'auto'", "--engine ray"]),
        (["--engine", "ray", "--workers", 0], ["--workers is 0", "at least 1"]),
        (["--engine", "ray", "--workers", 999], ["--workers is 999", "there are", "at most"]),
        (["--engine", "ray", "--ray-address", "nonsense"], ["'nonsense'", "HOST:PORT", "auto"]),
        (["--engine", "ray", "--ray-address", "ray://h:1"], ["'ray://h:1'", "HOST:PORT"]),
        (["--engine", "ray", "--ray-address", "127.0.0.1:1"], ["127.0.0.1:1", "refused"]),
        (["--engine", "ray", "--ray-address", "127.0.0.1:99999"], ["127.0.0.1:99999"]),
        (["--engine", "ray", "--ray-address", "no.such.host:1"], ["no.such.host:1", "auto"]),
    ],
)
def test_wrong_workers_and_addresses(
    model: Path, tmp_path: Path, more: list[object], words: list[str]
):
    refused(harness(*arguments(model, tmp_path / "run", *more)), *words)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["silent", "web"])
def test_an_address_of_something_else_is_said_at_once(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: bytes
):
    """Ray itself would try for minutes."""
    monkeypatch.setattr("harness.engine_ray.REACH_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def answer() -> None:
            server.settimeout(60)
            connection, _ = server.accept()
            with connection:
                connection.sendall(says)
                connection.recv(1000)
                time.sleep(0.5)

        pool.submit(answer)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        options = ["--engine", "ray", "--ray-address", address]
        result = harness(*arguments(model, tmp_path / "run", *options))
    refused(result, address, "can't be reached", "HOST:PORT")
    assert not (tmp_path / "run").exists()


def test_without_ray_one_line_says_how_to_get_it(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = harness(*arguments(model, tmp_path / "run", "--engine", "ray"))
    refused(result, "sdlm-bench[ray]", "--engine local")
    assert not (tmp_path / "run").exists()


def test_a_worker_s_error_is_the_user_s(
    cluster: Cluster, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What only a worker finds: the driver reads no weights."""
    spoilt = tmp_path / "model"
    spoilt.mkdir()
    for path in model.iterdir():
        (spoilt / path.name).write_bytes(path.read_bytes())
    weights = spoilt / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    result = harness(*arguments(spoilt, tmp_path / "run", *on_ray(cluster, 1)))
    refused(result, str(spoilt))
    assert not (tmp_path / "run").exists()


def test_a_worker_that_finds_another_model_is_refused(local: Path):
    config = manifest(local)["config"]
    ours = RunConfig(**config)
    theirs = RunConfig(**(config | {"model_sha256": "0" * 64, "device": "cuda"}))
    with pytest.raises(ValueError, match="worker on node7 has device cuda, others cpu"):
        check_same(ours, Joined("node7", {}, theirs), ("model_sha256",))
    with pytest.raises(ValueError, match="worker on node7 has model_sha256 0000"):
        check_same(ours, Joined("node7", {}, theirs), ("device",))
    check_same(ours, Joined("node7", {}, theirs), ("device", "model_sha256"))


# Where workers go.


@pytest.mark.parametrize(
    ("nodes", "workers", "expected"),
    [
        ([Node(2, 0)], None, Placement(2, 1, 0, 2)),
        ([Node(2, 0)], 1, Placement(1, 2, 0, 1)),
        ([Node(16, 0)], 3, Placement(3, 5, 0, 3)),
        # Five threads would leave the second worker without a place.
        ([Node(6, 0), Node(4, 0)], 2, Placement(2, 4, 0, 1)),
        ([Node(8, 0), Node(8, 0)], 4, Placement(4, 4, 0, 2)),
        ([Node(16, 4), Node(32, 8)], None, Placement(12, 4, 1, 1)),
        ([Node(16, 4), Node(32, 0)], 2, Placement(2, 8, 1, 1)),
        ([Node(2, 4)], None, Placement(2, 1, 1, 1)),
    ],
)
def test_workers_share_the_cores_and_take_no_more(
    nodes: list[Node], workers: int | None, expected: Placement
):
    assert place(nodes, workers) == expected


@pytest.mark.parametrize(
    ("nodes", "workers", "words"),
    [
        ([Node(2, 0)], 3, "--workers is 3; there are 2 cores"),
        ([Node(16, 2)], 3, "--workers is 3; there are 2 GPUs"),
        ([Node(0, 0)], None, "no node with a free core"),
    ],
)
def test_more_workers_than_places(nodes: list[Node], workers: int | None, words: str):
    with pytest.raises(ValueError, match=words):
        place(nodes, workers)
