"""The key-value cache: what is committed stays, what is not was never there."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sdlm.cache import KVCache

LAYERS, KV_HEADS, WIDTH, CAPACITY = 2, 2, 3, 40


def new_cache(rows: int, dtype: torch.dtype = torch.float32) -> KVCache:
    return KVCache(
        layers=LAYERS,
        rows=rows,
        kv_heads=KV_HEADS,
        capacity=CAPACITY,
        head_dim=WIDTH,
        dtype=dtype,
        device=torch.device("cpu"),
    )


def entries(tokens: list[list[int]], layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values that tell token, layer, head and component apart."""
    token = torch.tensor(tokens, dtype=torch.float32)[:, None, :, None]
    head = torch.arange(KV_HEADS)[None, :, None, None] / 10
    component = torch.arange(WIDTH) / 100
    keys = token + head + component + 1000 * layer
    return keys, -keys


def write(cache: KVCache, tokens: list[list[int]]) -> None:
    width = len(tokens[0])
    slots = cache.lengths_B[:, None] + torch.arange(width)
    stop = int(cache.lengths_B.max()) + width
    for layer in range(LAYERS):
        keys, values = entries(tokens, layer)
        seen = cache.append(layer, keys, values, cache.places(slots), stop)
        assert seen.k_BKSD.shape == (len(tokens), KV_HEADS, stop, WIDTH)
        for b, row in enumerate(slots.tolist()):
            assert torch.equal(seen.k_BKSD[b, :, row], keys[b])
            assert torch.equal(seen.v_BKSD[b, :, row], values[b])


def holds(cache: KVCache, row: int, tokens: list[int]) -> None:
    assert int(cache.lengths_B[row]) == len(tokens)
    if not tokens:
        return
    for layer in range(LAYERS):
        keys, values = entries([tokens], layer)
        assert torch.equal(cache.k_BKSD[layer][row, :, : len(tokens)], keys[0])
        assert torch.equal(cache.v_BKSD[layer][row, :, : len(tokens)], values[0])


steps = st.lists(
    st.tuples(st.integers(1, 5), st.lists(st.integers(0, 5), min_size=3, max_size=3)), max_size=7
)


@given(steps)
@settings(max_examples=50)
def test_what_is_not_kept_was_never_appended(steps: list[tuple[int, list[int]]]):
    """Each step writes some tokens to all rows and keeps some of them, another number a row."""
    cache, kept, counter = new_cache(3), [[], [], []], 0
    for width, wanted in steps:
        fresh = [[(counter := counter + 1) for _ in range(width)] for _ in range(3)]
        write(cache, fresh)
        counts = [min(count, width) for count in wanted]
        cache.commit(torch.tensor(counts))
        for b, count in enumerate(counts):
            kept[b] += fresh[b][:count]
    for b in range(3):
        holds(cache, b, kept[b])


actions = st.lists(
    st.one_of(
        st.tuples(st.just("grow"), st.integers(0, 3), st.integers(1, 3)),
        st.tuples(st.just("move"), st.integers(0, 3), st.integers(0, 3)),
        st.tuples(st.just("reset"), st.integers(0, 3), st.just(0)),
    ),
    max_size=12,
)


@given(actions)
@settings(max_examples=50)
def test_rows_can_be_moved_emptied_and_written_through_views(
    actions: list[tuple[str, int, int]],
):
    cache, model, counter = new_cache(4), [[], [], [], []], 0
    for action, row, other in actions:
        if action == "grow":
            fresh = [(counter := counter + 1) for _ in range(other)]
            view = cache.view(row, row + 1)
            write(view, [fresh])
            view.commit(torch.tensor([other]))
            model[row] = model[row] + fresh
        elif action == "move":
            cache.move(row, other)
            model[other] = list(model[row])
        else:
            cache.reset(row)
            model[row] = []
    for row, tokens in enumerate(model):
        holds(cache, row, tokens)


def test_sizes():
    cache = new_cache(2, torch.bfloat16)
    assert (cache.rows, cache.capacity) == (2, CAPACITY)
    assert cache.nbytes == 2 * LAYERS * 2 * KV_HEADS * CAPACITY * WIDTH * 2
    view = cache.view(1, 2)
    assert (view.rows, view.capacity) == (1, CAPACITY)
    assert view.k_BKSD[0].dtype == torch.bfloat16
