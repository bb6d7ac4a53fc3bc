"""What a manifest's values must look like wherever something reads them.

A manifest may come from another version, or from an editor. Keys may be missing and others may be
there, but what is under a key that is read must be of its kind.
"""

from typing import Any, cast

ANY_NAME = "*"

_NUMBER = (int, float)
_WORD = (str, int, float, type(None))
_NAMES: dict[str, Any] = {}
_SOFTWARE = {"python": str, "git_commit": (str, type(None)), "packages": _NAMES}
_HARDWARE = {"memory_bytes": _NUMBER}
_SECONDS = {ANY_NAME: (*_NUMBER, type(None))}

# Of a mapping these keys, or all; of a list each value; else the value's types.
_SHAPE: dict[str, Any] = {
    "config": {
        **dict.fromkeys(("model", "model_sha256", "dtype", "attention", "device"), str),
        "tasks": [str],
        "decoders": [str],
        "batch_sizes": [int],
        **dict.fromkeys(("sources", "max_new_tokens", "data_sha256", "template_sha256"), _NAMES),
    },
    "invocations": [
        {
            "started": str,
            "arguments": [str],
            "samples_before": int,
            "other_load": (*_NUMBER, type(None)),
            **dict.fromkeys(("engine", "workers", "threads"), _WORD),
            "hardware": _HARDWARE,
            "software": _SOFTWARE,
        }
    ],
    "hardware": _HARDWARE,
    "software": _SOFTWARE,
    "hosts": _NAMES,
    "references": {ANY_NAME: str},
    "warnings": [str],
    "warmup_s": _SECONDS,
    "overhead": _SECONDS,
}


def manifest_fault(manifest: dict[str, Any]) -> str | None:
    """Where a manifest is not what its readers expect, with what stands there; None where it is
    fine."""
    return _fault(manifest, _SHAPE, "")


def _fault(value: object, shape: Any, path: str) -> str | None:
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return f"{path} is {value!r:.80}, expected names with values"
        kinds = cast("dict[str, Any]", shape)
        inner = [
            (each, kinds.get(name, kinds.get(ANY_NAME)), f"{path}.{name}" if path else name)
            for name, each in cast("dict[str, object]", value).items()
        ]
    elif isinstance(shape, list):
        if not isinstance(value, list):
            return f"{path} is {value!r:.80}, expected a list"
        (kind,) = cast("list[Any]", shape)
        found = cast("list[object]", value)
        inner = [(each, kind, f"{path}[{place}]") for place, each in enumerate(found)]
    else:
        return None if isinstance(value, shape) else f"{path} is {value!r:.80}"
    faults = (_fault(each, kind, place) for each, kind, place in inner if kind is not None)
    return next((fault for fault in faults if fault is not None), None)
