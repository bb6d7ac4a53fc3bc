"""Reader of the golden data: what the released SDLM code computes on three tiny models.

The data lies in `golden/` of the folder named by SDLM_SHARED (default: `../shared` beside the
repository), and its README describes it. Tests that need it are skipped where it is missing.
"""

import functools
import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from torch import Tensor

from decoders.protocol import Decoder
from decoders.registry import build_decoder
from sdlm.attention import Impl
from sdlm.checkpoint import load_model
from sdlm.model import SDLM

# Model -> number of normative generation cases.
MODELS = {"d4-tied": 292, "d8-untied": 292, "d4-causal": 299}
MASK = 511
DECODER_OF = {
    "prob_conf": "greedy-confidence",
    "entropy_conf": "entropy",
    "first_token": "block-ar",
    "self_speculative": "self-speculative",
    "plain_causal": "ar",
}


def folder() -> Path:
    default = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("SDLM_SHARED") or default) / "golden"
    if not path.is_dir():
        pytest.skip(f"golden data is missing: no folder {path}; SDLM_SHARED names its parent")
    return path


def read(model: str, name: str) -> Any:
    return json.loads((folder() / model / name).read_text())


def tensors(model: str, name: str) -> dict[str, Tensor]:
    return load_file(folder() / model / name)


@functools.cache
def prompts(model: str) -> dict[str, list[int]]:
    return read(model, "prompts.json")["prompts"]


@functools.cache
def load(model: str, impl: Impl = Impl.DENSE, *, packed: bool = False) -> SDLM:
    loaded = load_model(folder() / model, impl=impl)
    if packed:
        loaded.pack()
    return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything that decides an answer; the released code reaches it with a cache or without."""

    prompt: str
    algorithm: str
    block: int
    tau: float | None
    budget: int
    eos: frozenset[int]

    def decoder(self) -> Decoder:
        spec = DECODER_OF[self.algorithm] + ("" if self.tau is None else f"(tau={self.tau})")
        return build_decoder(spec, default_block=self.block, mask_token_id=MASK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A recorded answer, in this project's terms.

    The released code lets the last step run past the budget; here ids and kept counts are cut.
    kept: tokens kept by each forward; 0 by the prefill of self-speculation.
    """

    id: str
    setting: Setting
    ids: tuple[int, ...]
    kept: tuple[int, ...]
    forwards: int


def _case(raw: dict[str, Any]) -> Case:
    setting = Setting(
        prompt=raw["prompt"],
        algorithm=raw["alg"],
        block=raw["D"],
        tau=raw["threshold"],
        budget=raw["max_gen_len"],
        eos=frozenset(raw["eos_token_ids"]),
    )
    room, kept = setting.budget, []
    for count in raw["appended"]:
        kept.append(min(count, room))
        room -= kept[-1]
    prefill = [0] if setting.algorithm == "self_speculative" else []
    return Case(
        id=raw["id"],
        setting=setting,
        ids=tuple(raw["generated_ids"][: setting.budget]),
        kept=tuple(prefill + kept),
        forwards=raw["forward_passes"],
    )


@functools.cache
def cases(model: str) -> dict[Setting, list[Case]]:
    """Recorded cases by setting."""
    grouped: dict[Setting, list[Case]] = defaultdict(list)
    for raw in read(model, "generation.json")["cases"]:
        case = _case(raw)
        grouped[case.setting].append(case)
    return dict(grouped)
