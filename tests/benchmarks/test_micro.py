"""The parts of a step on nano: `pytest tests/benchmarks/test_micro.py --benchmark-enable`.

For `--benchmark-compare-fail`, which says that a part got slower where `harness compare` says that
a decoder did. Without `--benchmark-enable` each runs once.
"""

import pytest
import torch

from decoders.acceptance import Rule, confident_prefix, verified_prefix
from decoders.protocol import Rows
from decoders.registry import DECODERS, build_decoder
from decoders.windows import chain_query
from harness.models import open_model
from sdlm.attention import Impl, build_mask
from sdlm.layout import Layout
from sdlm.model import SDLM
from sdlm.model_names import model_folder
from tests.benchmarks.growth import decoding_step

ROWS, CONTEXT, BLOCK = 8, 256, 4
CHAIN_SLOTS = BLOCK + BLOCK**2


@pytest.fixture(scope="module")
def nano() -> SDLM:
    loaded = open_model(
        "nano",
        model_folder("nano"),
        dtype="float32",
        attention=None,
        device="cpu",
        need_tokenizer=False,
    )
    return loaded.model


@pytest.fixture(autouse=True)
def _inference():
    with torch.inference_mode():
        yield


def drafted_rows() -> Rows:
    draft_BD = torch.arange(ROWS * BLOCK).view(ROWS, BLOCK)
    return Rows(
        pending_BP=draft_BD[:, :1],
        num_pending_B=torch.ones(ROWS, dtype=torch.int64),
        cached_B=torch.full((ROWS,), CONTEXT),
        draft_BD=draft_BD,
        prefill=False,
    )


@pytest.mark.parametrize("rows", [1, ROWS])
@pytest.mark.parametrize("name", DECODERS)
def test_step(benchmark, nano: SDLM, name: str, rows: int) -> None:
    shape = benchmark(decoding_step(nano, name, rows, CONTEXT))
    assert shape.rows == rows
    assert shape.slots >= rows


@pytest.mark.parametrize("name", DECODERS)
def test_proposing(benchmark, name: str) -> None:
    decoder = build_decoder(name, default_block=BLOCK, mask_token_id=3)
    query = benchmark(decoder.propose, drafted_rows())
    assert query.ids_BT.shape[1] <= decoder.max_slots


@pytest.mark.parametrize("name", DECODERS)
def test_accepting(benchmark, nano: SDLM, name: str) -> None:
    decoder = build_decoder(name, default_block=BLOCK, mask_token_id=3)
    state = drafted_rows()
    wanted = decoder.propose(state).wanted_BN.shape[1]
    generator = torch.Generator().manual_seed(0)
    logits_BNV = torch.randn(ROWS, wanted, nano.config.vocab_size, generator=generator)
    accepted = benchmark(decoder.accept, state, logits_BNV)
    assert accepted.count_B.min() >= 1


@pytest.mark.parametrize("impl", Impl)
def test_mask_building(benchmark, impl: Impl) -> None:
    query = chain_query(drafted_rows(), BLOCK, BLOCK, 3)
    layout = Layout(
        start_BT=torch.zeros_like(query.limit_BT),
        limit_BT=query.limit_BT,
        group_BT=query.group_BT,
        offset_B=torch.full((ROWS,), CONTEXT),
        num_keys=CONTEXT + CHAIN_SLOTS,
        causal_attn=False,
    )
    mask = benchmark(build_mask, layout, impl, torch.float32, heads_per_key=2)
    assert (mask.num_rows, mask.num_slots) == (ROWS, CHAIN_SLOTS)


def test_cache_commit(benchmark, nano: SDLM) -> None:
    """Writing a step's keys and values in every layer, and keeping two of each row's."""
    config, cache = nano.config, nano.new_cache(ROWS, 2 * CONTEXT)
    new_BKTD = torch.ones(ROWS, config.num_kv_heads, CHAIN_SLOTS, config.head_dim)
    slot_T, two_B = torch.arange(CHAIN_SLOTS), torch.full((ROWS,), 2)

    def commit() -> None:
        cache.lengths_B[:] = CONTEXT
        places_N = cache.places(cache.lengths_B[:, None] + slot_T)
        for layer in range(config.num_layers):
            cache.append(layer, new_BKTD, new_BKTD, places_N, CONTEXT + CHAIN_SLOTS)
        cache.commit(two_B)

    benchmark(commit)
    assert cache.lengths_B.tolist() == [CONTEXT + 2] * ROWS


@pytest.mark.parametrize("rule", ["per-token", "cumulative"])
def test_confident_prefix(benchmark, rule: Rule) -> None:
    confidence_BD = torch.tensor([[0.99, 0.95, 0.5, 0.99]]).repeat(ROWS, 1)
    assert benchmark(confident_prefix, confidence_BD, 0.9, rule).tolist() == [2] * ROWS


def test_verified_prefix(benchmark) -> None:
    draft_BD = torch.arange(ROWS * BLOCK).view(ROWS, BLOCK)
    answers_BD = draft_BD + torch.tensor([1, 1, 0, 1])
    assert benchmark(verified_prefix, draft_BD, answers_BD).tolist() == [3] * ROWS
