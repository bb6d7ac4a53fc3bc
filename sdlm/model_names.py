"""Model names: `nano` and `nano-ar` in the package, a folder, or a Hugging Face hub id."""

import re
from importlib.resources import files
from pathlib import Path

#: Models whose weights come with the package.
PACKAGED = ("nano", "nano-ar")
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
# What a model folder needs; never code, never pickles.
HUB_FILES = ["*.json", "model*.safetensors", "*.jinja", "merges.txt", "vocab.txt"]
ADAPTER_FILES = ["*.json", "adapter_model.safetensors"]


def model_folder(name: str) -> Path:
    """The folder of a model; a hub id is downloaded, or taken from the hub's cache."""
    if name in PACKAGED:
        return Path(str(files("sdlm"))) / "nano" / name
    expected = (
        f"{' or '.join(PACKAGED)}, a folder with config.json and *.safetensors, or a hub id such"
        " as OpenGVLab/SDLM-3B-D4"
    )
    return _local_or_hub("model", name, HUB_FILES, expected)


def adapter_folder(name: str) -> Path:
    """The folder of a LoRA adapter in peft's format; a hub id is downloaded, or taken from the
    hub's cache."""
    expected = "a folder with adapter_config.json and adapter_model.safetensors, or a hub id"
    return _local_or_hub("adapter", name, ADAPTER_FILES, expected)


def _local_or_hub(kind: str, name: str, patterns: list[str], expected: str) -> Path:
    if name and Path(name).is_dir():
        return Path(name)
    if not HUB_ID.fullmatch(name):
        raise ValueError(f"{kind} {name!r} is not a folder; give {expected}")
    # Imported here to keep its network code out of local runs.
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=patterns))
    # Its errors share no base class below Exception; each means that the files can't be had.
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"{kind} {name!r} is neither a folder nor to be had from the hub ({reason}); give a"
            " local folder, or connect and try again"
        ) from None


def with_adapter(model: str, adapter: str | None) -> str:
    """The name under which a model with an adapter is run and shown; see `merging.find_model`."""
    return model if adapter is None else f"{model}+{adapter}"


def public_name(name: str) -> str:
    """A model's name as the twin's spec and a training's facts have it: of a folder's path only
    the last part. (A run's manifest and records have it as it was given.)"""
    return Path(name).absolute().name if Path(name).is_dir() else name
