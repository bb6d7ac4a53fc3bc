"""`harness list`: models, decoders with their parameters, tasks with their sources."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from decoders.registry import DECODERS, decoder_class, parameters
from sdlm.hf_config import read_config
from sdlm.model_names import PACKAGED, model_folder
from tasks import TASKS, resolve_task


def listing() -> dict[str, list[dict[str, Any]]]:
    """Everything that can be named on the command line, as plain data."""
    return {
        "models": [_model(name) for name in PACKAGED],
        "decoders": [
            {
                "name": name,
                "parameters": {
                    key: "the model's" if default is ... else default
                    for key, default in parameters(decoder_class(name)).items()
                },
            }
            for name in DECODERS
        ],
        "tasks": [
            {
                "name": name,
                "items": {
                    source: resolve_task(name).count(source)
                    for source in resolve_task(name).sources
                },
            }
            for name in TASKS
        ],
    }


def print_listing(*, as_json: bool) -> None:
    data = listing()
    if as_json:
        print(json.dumps(data, indent=2))
        return
    models = Table("model", "block", "layers", "width", "vocabulary", "context", title="Models")
    for row in data["models"]:
        models.add_row(*(str(value) for value in row.values()))
    decoders = Table("decoder", "parameters and defaults", title="Decoders")
    for row in data["decoders"]:
        pairs = (f"{key}={value}" for key, value in row["parameters"].items())
        decoders.add_row(row["name"], ", ".join(pairs))
    tasks = Table("task", "items by source", title="Tasks")
    for row in data["tasks"]:
        counts = (f"{source} {count:,}" for source, count in row["items"].items())
        tasks.add_row(row["name"], ", ".join(counts))
    console = Console()
    for table in (models, decoders, tasks):
        console.print(table)
    console.print(
        "Any folder of a Qwen2, Qwen3, Llama or Mistral checkpoint, or a hub id, is a model too;"
        " any dataclass package.module:Class with a Decoder's methods is a decoder."
    )


def _model(name: str) -> dict[str, Any]:
    config = read_config(model_folder(name))
    return {
        "name": name,
        "block": config.block_size or "autoregressive",
        "layers": config.num_layers,
        "width": config.hidden_size,
        "vocabulary": config.vocab_size,
        "context": config.max_context,
    }
