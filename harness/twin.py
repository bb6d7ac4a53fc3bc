"""The autoregressive twin (`--baseline-model`): another model that answers the same prompts, by
plain decoding, in the same run. For an SDLM it is the model that it was made from, or one trained
on the same data as long (the paper's SFT model), and says what the retrofit itself has cost.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from decoders.ar import Autoregressive
from decoders.generate import Request, check_request
from decoders.protocol import Decoder
from harness.answers import prompt_ids
from harness.asking import Wish
from harness.models import LoadedModel, open_model
from harness.run_config import Dtype
from sdlm.model_names import model_folder, public_name
from tasks import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinDecoder(Autoregressive):
    """Its ids are another model's, so there are none that they should equal."""

    reference: ClassVar[str] = ""

    @property
    def promises_equal(self) -> bool:
        return False


def twin_decoder() -> Decoder:
    # A protocol's properties don't match class variables, to a type checker.
    decoder: Any = TwinDecoder()
    return decoder


def twin_spec(name: str) -> str:
    """Under which decoder the twin stands in records and tables, beside the run's own `ar`."""
    return f"ar(model={public_name(name)})"


def twin_folder(wish: Wish) -> Path | None:
    """The folder of `--baseline-model`, or None; ValueError where it can't be had."""
    if wish.baseline_model is None:
        return None
    if wish.setup.tensor_parallel > 1:
        raise ValueError(
            f"--baseline-model {wish.baseline_model} and --tensor-parallel don't go together:"
            " only one model can be shared by several processes; measure it in a run of its own"
        )
    return model_folder(wish.baseline_model)


def open_twin(wish: Wish, folder: Path, like: LoadedModel, *, weights: bool) -> LoadedModel:
    """The baseline model, in the number type, on the device and with the attention and set-up of
    the run's own."""
    assert wish.baseline_model is not None, "it has a folder"
    return open_model(
        wish.baseline_model,
        folder,
        dtype=as_option(like),
        attention=like.model.impl.value,
        device=like.model.device.type if weights else "cpu",
        need_tokenizer=True,
        setup=wish.setup,
        weights=weights,
    )


def as_option(loaded: LoadedModel) -> Dtype:
    """A model's number type as `--dtype` names it."""
    name: Any = str(loaded.model.dtype).removeprefix("torch.")
    return name


def check_same_prompts(
    twin: LoadedModel, items: Iterable[Item], requests: Iterable[Request]
) -> None:
    """Raise ValueError unless the twin reads the prompts as the very same ids: tokens of different
    tokenizers don't compare."""
    for item, request in zip(items, requests, strict=True):
        if prompt_ids(twin, item) != request.ids:
            raise ValueError(
                f"--baseline-model {twin.name} has other token ids for the prompt of {item.id}:"
                " its tokenizer or chat template differs, so tokens/s don't compare; give a model"
                " with the same ones"
            )
        check_request(twin.model, request)
