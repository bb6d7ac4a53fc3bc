"""Several processes that share a model against one that holds it whole."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from decoders.generate import Request, generate
from decoders.registry import DECODERS, build_decoder
from decoders.trimming import Ending
from sdlm.checkpoint import load_model
from sdlm.layout import causal_layout
from sdlm.model import SDLM
from sdlm.model_names import model_folder
from sdlm.team import TeamLost
from sdlm.tensor_parallel import TensorParallel, open_parallel
from tests.harness.tiny import make_model

ROOT = Path(__file__).resolve().parents[2]
# A dead process is noticed at once; this is for a machine that is busy.
SOON_S = 15
RANDOM = torch.Generator().manual_seed(0)
PROMPTS = [
    Request(key=str(n), ids=tuple(torch.randint(30, 300, (n,), generator=RANDOM).tolist()))
    for n in (9, 4, 12, 7)
]


class Pair(NamedTuple):
    """The same model whole and shared; the last test that uses it ends it."""

    one: SDLM
    shared: TensorParallel
    ranks: int


# Untied with a bias; tied and trained; norms on q and k, and a vocabulary that 3 does not divide.
@pytest.fixture(scope="module", params=["tiny", "nano", "thirds"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    ranks = 2
    folder = tmp_path_factory.mktemp("models") / request.param
    if request.param == "nano":
        folder = model_folder("nano")
    elif request.param == "tiny":
        make_model(folder, seed=5)
    else:
        ranks = 3
        sizes = {"num_heads": 6, "num_kv_heads": 3, "intermediate_size": 66}
        make_model(folder, seed=5, qk_norm=True, qkv_bias=False, family="qwen3", **sizes)
    one = load_model(folder, dtype=torch.float32)
    shared = open_parallel(folder, ranks, dtype=torch.float32)
    yield Pair(one, shared, ranks)
    shared.close()
    assert not any(process.is_alive() for process in shared.team.processes)


def answers(model: SDLM, spec: str, batch_size: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Ids and accepted lengths of some prompts."""
    config = model.config
    decoder = build_decoder(spec, default_block=4, mask_token_id=config.mask_token_id)
    ending = Ending(budget=8, eos_token_ids=frozenset(config.eos_token_ids))
    done = generate(model, decoder, PROMPTS, ending, batch_size=batch_size)
    return {completion.key: (completion.ids, completion.kept) for completion in done}


def test_logits_are_those_of_one_process(pair: Pair):
    ids = torch.randint(0, 300, (3, 20), generator=torch.Generator().manual_seed(1))
    positions = torch.arange(20).expand(3, -1)
    wanted = torch.tensor([[19, 0], [3, 3], [5, 6]])
    with torch.inference_mode():
        for slots in (None, wanted):
            exact, got = (
                model(ids, positions, causal_layout(3, 20), wanted_BN=slots)
                for model in (pair.one, pair.shared)
            )
            torch.testing.assert_close(got, exact, rtol=0, atol=1e-4)


@pytest.mark.parametrize("spec", DECODERS)
def test_every_decoder_gives_the_same_ids(pair: Pair, spec: str):
    for batch_size in (1, 3):
        one, shared = (answers(model, spec, batch_size) for model in (pair.one, pair.shared))
        assert one == shared


def test_a_rank_holds_its_share(pair: Pair):
    def bytes_of(model: SDLM, part: str) -> int:
        return sum(p.nbytes for name, p in model.named_parameters() if part in name)

    for part in ("qkv_proj", "o_proj", "gate_up_proj", "down_proj"):
        assert bytes_of(pair.one, part) == pair.ranks * bytes_of(pair.shared, part)
    shares = [model.new_cache(rows=3, capacity=64).nbytes for model in pair[:2]]
    assert shares[0] == pair.ranks * shares[1]
    # What is asked of the model is still the whole's.
    assert pair.shared.config == pair.one.config


def test_it_can_be_neither_compiled_nor_opened_twice(pair: Pair):
    with pytest.raises(ValueError, match="compiled"):
        pair.shared.compile_forward()
    with pytest.raises(ValueError, match="must be closed first"):
        open_parallel(model_folder("nano"), 2)


def test_two_runs_at_once_and_one_cache_left_to_be_used_again(pair: Pair):
    decoder = build_decoder("ar", default_block=4, mask_token_id=None)
    ending = Ending(budget=4, eos_token_ids=frozenset())
    alone = [completion.ids for completion in generate(pair.one, decoder, PROMPTS, ending)]
    runs = [generate(pair.shared, decoder, PROMPTS, ending) for _ in range(2)]
    assert [(a.ids, b.ids) for a, b in zip(*runs, strict=True)] == [(ids, ids) for ids in alone]
    del runs
    assert list(pair.shared.caches.values()) == [pair.shared.spare]


def test_a_killed_follower_is_an_error_and_no_hang(pair: Pair):
    """Between two forwards or, of two ranks, within one, where each waits for the other's sums."""
    process = pair.shared.team.processes[-1]

    def kill(*_: object) -> None:
        os.kill(process.pid or 0, signal.SIGKILL)

    if pair.ranks == 2:
        pair.shared.blocks[1].register_forward_pre_hook(kill)
    else:
        kill()
    started_s = time.monotonic()
    with pytest.raises(TeamLost, match=rf"rank {pair.ranks - 1} has ended \(exit code -9\)"):
        answers(pair.shared, "ar", 1)
    assert not any(process.is_alive() for process in pair.shared.team.processes)
    with pytest.raises(TeamLost, match="closed"):
        answers(pair.shared, "ar", 1)
    assert time.monotonic() - started_s < SOON_S


DRIVER = """
import sys, time
from pathlib import Path
import torch
from sdlm.checkpoint import load_model
from sdlm.layout import causal_layout
from sdlm.tensor_parallel import open_parallel

if __name__ == "__main__":
    one = load_model(Path(sys.argv[1]), dtype=torch.bfloat16)
    shared = open_parallel(Path(sys.argv[1]), 2, dtype=torch.bfloat16)
    shared.pack()
    ids = torch.arange(40, 50)[None]
    with torch.inference_mode():
        exact, got = (model(ids, ids, causal_layout(1, 10)).float() for model in (one, shared))
    print(((got - exact).norm() / exact.norm()).item(), flush=True)
    time.sleep(60)
"""


def test_followers_end_with_a_killed_driver(tmp_path: Path):
    """A model in bf16, its weights packed, is the same but for rounding until then."""
    folder, script = make_model(tmp_path / "model", seed=5), tmp_path / "driver.py"
    script.write_text(DRIVER)
    driver = subprocess.Popen(
        [sys.executable, script, folder],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    assert float(driver.stdout.readline()) < 0.05
    driver.kill()
    # The follower writes to the same pipe, which closes when both have ended.
    _, stderr = driver.communicate(timeout=SOON_S)
    assert stderr.splitlines() == ["tensor-parallel rank 1 ends: its driver is gone"]


@pytest.mark.parametrize(
    ("ranks", "changes", "accepted"),
    [
        (3, {}, "1, 2"),
        (4, {}, "1, 2"),
        (0, {}, "1, 2"),
        (2, {"intermediate_size": 63}, "1"),
        (4, {"num_heads": 8, "num_kv_heads": 4, "head_dim": 6, "intermediate_size": 66}, "1, 2"),
    ],
)
def test_ranks_that_cannot_share_evenly_are_refused(
    tmp_path: Path, ranks: int, changes: dict[str, int], accepted: str
):
    folder = make_model(tmp_path, **changes)
    with pytest.raises(ValueError, match=rf"^{ranks} ranks .* accepted are {accepted}$"):
        open_parallel(folder, ranks)


def test_what_fails_at_the_start_leaves_nothing_behind(tmp_path: Path):
    folder = make_model(tmp_path)
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ValueError, match="is not a whole safetensors file"):
        open_parallel(folder, 2)
    assert not torch.distributed.is_initialized()
