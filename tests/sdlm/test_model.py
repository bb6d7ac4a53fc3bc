"""The model against its fp64 definition, and the laws of cached and batched forwards."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decoders.protocol import Rows
from decoders.windows import window_query
from sdlm.attention import Impl
from sdlm.cache import KVCache
from sdlm.layout import Layout, causal_layout, dense_mask
from sdlm.model import SDLM
from tests.fakes import TINY_MASK, tiny_config, tiny_model
from tests.oracles.model import ReferenceModel, fp32_tolerance


def random_ids(count: int, seed: int = 0) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, TINY_MASK, (count,), generator=generator).tolist()


def window_layout(n: int, block: int, causal_attn: bool) -> Layout:
    """n - 1 kept tokens, then the window after n."""
    slot = torch.arange(n - 1 + block)
    in_window = slot >= n - 1
    return Layout(
        start_BT=torch.zeros_like(slot)[None],
        limit_BT=torch.where(in_window, n - 1, slot + 1)[None],
        group_BT=in_window.long()[None],
        offset_B=torch.tensor([0]),
        num_keys=len(slot),
        causal_attn=causal_attn,
    )


@torch.inference_mode()
def forward(model: SDLM, ids: list[int], layout: Layout) -> torch.Tensor:
    return model(torch.tensor([ids]), torch.arange(len(ids))[None], layout)[0]


@pytest.mark.parametrize("causal_attn", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_logits_are_the_definitions(seed: int, causal_attn: bool):
    model = tiny_model(seed, causal_attn=causal_attn)
    ids = random_ids(20, seed) + [TINY_MASK] * 3
    layout = window_layout(20, 4, causal_attn)
    exact = ReferenceModel(model).logits(ids, range(23), dense_mask(layout)[0].tolist())
    torch.testing.assert_close(
        forward(model, ids, layout).double(), exact, rtol=0, atol=fp32_tolerance(exact)
    )


def test_every_variant_is_the_definitions():
    """No bias, norms on q and k, one key/value head, a tied head, an odd head width."""
    config = tiny_config(
        qkv_bias=False, qk_norm=True, num_kv_heads=1, tie_embeddings=True, head_dim=10
    )
    torch.manual_seed(0)
    model = SDLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.5 if parameter.ndim == 1 else 0, 0.3)
    ids = random_ids(12)
    layout = causal_layout(1, 12)
    exact = ReferenceModel(model).logits(ids, range(12), dense_mask(layout)[0].tolist())
    got = forward(model, ids, layout)
    torch.testing.assert_close(got.double(), exact, rtol=0, atol=fp32_tolerance(exact))
    assert model.head.weight is model.embedding.weight


def test_only_the_wanted_logits_are_computed():
    model = tiny_model()
    ids = torch.tensor([random_ids(6, 1), random_ids(6, 2)])
    positions = torch.arange(6).expand(2, -1)
    wanted = torch.tensor([[5, 0], [2, 2]])
    with torch.inference_mode():
        everything = model(ids, positions, causal_layout(2, 6))
        some = model(ids, positions, causal_layout(2, 6), wanted_BN=wanted)
    assert some.dtype == torch.float32
    for b, slots in enumerate(wanted.tolist()):
        torch.testing.assert_close(some[b], everything[b, slots], rtol=0, atol=1e-5)


class Fed:
    """A cache and what was fed to it, one or more rows."""

    def __init__(self, model: SDLM, rows: int) -> None:
        self.model = model
        self.cache: KVCache = model.new_cache(rows=rows, capacity=64)

    @torch.inference_mode()
    def feed(self, pending: list[list[int]], block: int) -> list[torch.Tensor]:
        """Pending tokens and a window; commits the pending ones. The windows' logits by row."""
        longest = max(map(len, pending))
        rows = Rows(
            pending_BP=torch.tensor([row + [0] * (longest - len(row)) for row in pending]),
            num_pending_B=torch.tensor([len(row) for row in pending]),
            cached_B=self.cache.lengths_B.clone(),
            draft_BD=torch.zeros(len(pending), 1, dtype=torch.int64),
            prefill=False,
        )
        query = window_query(rows, block, TINY_MASK)
        layout = Layout(
            start_BT=torch.zeros_like(query.limit_BT),
            limit_BT=query.limit_BT,
            group_BT=query.group_BT,
            offset_B=rows.cached_B,
            num_keys=int(rows.cached_B.max()) + longest + block,
            causal_attn=self.model.config.causal_attn,
        )
        logits = self.model(query.ids_BT, query.positions_BT, layout, self.cache, query.wanted_BN)
        self.cache.commit(rows.num_pending_B)
        return list(logits)


@st.composite
def splits(draw: st.DrawFn) -> list[list[int]]:
    """For each of up to three rows, the sizes of as many steps."""
    steps = draw(st.integers(1, 4))
    sizes = st.lists(st.integers(1, 6), min_size=steps, max_size=steps)
    return draw(st.lists(sizes, min_size=1, max_size=3))


@given(splits(), st.integers(0, 2), st.booleans())
@settings(max_examples=30)
def test_stepwise_ragged_and_cached_is_whole_alone_and_uncached(
    sizes: list[list[int]], seed: int, causal_attn: bool
):
    """Windows of earlier steps and neighbours of other lengths leave no trace."""
    model, block = tiny_model(seed, causal_attn=causal_attn), 4
    texts = [random_ids(sum(row), 10 + b) for b, row in enumerate(sizes)]
    fed = Fed(model, len(sizes))
    for step in range(len(sizes[0])):
        done = [sum(row[:step]) for row in sizes]
        pending = [
            text[start : start + row[step]]
            for text, start, row in zip(texts, done, sizes, strict=True)
        ]
        windows = fed.feed(pending, block)
        for text, start, new, window in zip(texts, done, pending, windows, strict=True):
            n = start + len(new)
            ids = text[:n] + [TINY_MASK] * (block - 1)
            alone = forward(model, ids, window_layout(n, block, causal_attn))[-block:]
            torch.testing.assert_close(window, alone, rtol=0, atol=fp32_tolerance(alone))
    for b, text in enumerate(texts):
        assert int(fed.cache.lengths_B[b]) == len(text)


def test_a_layout_for_other_slots_is_refused():
    model = tiny_model()
    with pytest.raises(ValueError, match="can't serve"):
        forward(model, random_ids(5), causal_layout(1, 1))
    with pytest.raises(ValueError, match="can't serve"):
        forward(model, random_ids(5), causal_layout(2, 5))


@pytest.mark.parametrize("causal_attn", [False, True])
def test_flex_is_dense(causal_attn: bool):
    """Through the cache, as decoding does it: shapes that other tests compile too."""
    ids = random_ids(7)
    logits = []
    for impl in Impl:
        model = tiny_model(0, causal_attn=causal_attn, impl=impl)
        cache = model.new_cache(rows=1, capacity=256)
        rows = Rows(
            pending_BP=torch.tensor([ids]),
            num_pending_B=torch.tensor([7]),
            cached_B=torch.tensor([0]),
            draft_BD=torch.zeros(1, 1, dtype=torch.int64),
            prefill=True,
        )
        query = window_query(rows, 4, TINY_MASK)
        layout = Layout(
            start_BT=torch.zeros_like(query.limit_BT),
            limit_BT=query.limit_BT,
            group_BT=query.group_BT,
            offset_B=rows.cached_B,
            num_keys=256,
            causal_attn=causal_attn,
        )
        with torch.inference_mode():
            logits.append(model(query.ids_BT, query.positions_BT, layout, cache))
    torch.testing.assert_close(*logits, rtol=0, atol=fp32_tolerance(logits[0]))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"num_kv_heads": 3}, "4 attention heads can't share 3"),
        ({"mask_token_id": None}, "no text_mask_token_id"),
        ({"block_size": None}, "no block_size"),
        ({"block_size": 1}, "at least 2 slots"),
        ({"mask_token_id": 48}, "48 lies outside the vocabulary of 48"),
        ({"mask_token_id": -1}, "-1 lies outside"),
        ({"eos_token_ids": (3, TINY_MASK)}, "47 is also an end token"),
    ],
)
def test_a_config_that_makes_no_sense(fields: dict[str, object], words: str):
    with pytest.raises(ValueError, match=words):
        tiny_config(**fields)
