"""Did two runs measure the same thing? What must be equal before their numbers are compared.

Everything in the configuration must, and the hardware, and who did the work. Software versions and
the commit may differ: they are what a gate is there to judge.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from results.gate.pairing import Rows
from results.store import StoredRun

HARDWARE, ITEMS = "hardware", "items"
WORK = ("engine", "workers", "threads")
"""What each invocation says of who did the work."""

_HARDWARE = ("cpu", "cores", "usable_cores", "gpu")
_SETS = ("tasks", "decoders", "batch_sizes")
_OF_A_TASK = ("sources", "max_new_tokens", "data_sha256", "template_sha256")
_SHOWN, _WIDTH = 3, 32


class Difference(NamedTuple):
    """What differs, under the name by which it can be allowed, and how."""

    name: str
    how: str


def check_alike(found: Sequence[Difference], allowed: Sequence[str], base: StoredRun) -> None:
    """Raise ValueError unless all differences are among the allowed names."""
    known = [*base.manifest["config"], *(each.name for each in found), *WORK, HARDWARE, ITEMS]
    for name in allowed:
        if name not in known:
            raise ValueError(
                f"--allow-different has {name!r}; known are {', '.join(dict.fromkeys(known))}"
            )
    refused = [each for each in found if each.name not in allowed]
    if not refused:
        return
    shown = ", ".join(f"{each.name} ({each.how})" for each in refused[:_SHOWN])
    more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
    names = ",".join([*allowed, *(each.name for each in refused)])
    raise ValueError(
        f"the runs differ in {shown}{more}: measure both alike, or compare what they share by"
        f" --allow-different {names}"
    )


def differences(
    base: StoredRun, new: StoredRun, base_rows: Rows, new_rows: Rows
) -> list[Difference]:
    """All that should be equal and is not: configuration first, items last."""
    ours, theirs = base.manifest["config"], new.manifest["config"]
    tasks = [name for name in ours.get("tasks", ()) if name in theirs.get("tasks", ())]
    found: list[Difference] = []
    for name in dict.fromkeys([*ours, *theirs]):
        one, other = (_comparable(name, config, tasks) for config in (ours, theirs))
        if _text(one) != _text(other):
            found.append(Difference(name, _how(one, other)))
    for name in WORK:
        one, other = _work(base, name), _work(new, name)
        if one != other:
            found.append(Difference(name, _how(one, other)))
    one, other = _hardware(base), _hardware(new)
    if one != other:
        found.append(Difference(HARDWARE, _how(one, other)))
    rows_differ = any(each.name in (*_SETS, "sources") for each in found)
    return found + _items(base_rows, new_rows, only_shared=rows_differ)


def _comparable(name: str, config: Mapping[str, Any], tasks: Sequence[str]) -> Any:
    """A field's value, without its order where that means nothing and without tasks that only one
    run has, which `tasks` tells already; `_Absent` where there is no such field."""
    if name not in config:
        return _ABSENT
    value = config[name]
    if name in _SETS:
        return sorted(value)
    if name in _OF_A_TASK:
        return {task: value[task] for task in tasks if task in value}
    return value


class _Absent:
    """A field that a run of another version does not have."""


_ABSENT = _Absent()


def _work(run: StoredRun, name: str) -> list[Any]:
    """What the invocations say, each thing once."""
    said = [each[name] for each in run.manifest["invocations"] if name in each]
    return sorted(dict.fromkeys(said), key=str)


def _hardware(run: StoredRun) -> dict[str, Any]:
    facts = run.manifest.get("hardware", {})
    return {name: facts[name] for name in _HARDWARE if name in facts}


def _items(base: Rows, new: Rows, *, only_shared: bool) -> list[Difference]:
    """The first row whose items differ, rows that only one run has included unless the
    configurations say why."""
    for key in dict.fromkeys([*base, *new]):
        ours, theirs = base.get(key, {}).keys(), new.get(key, {}).keys()
        if ours == theirs or (only_shared and not (ours and theirs)):
            continue
        counts = f"{len(ours)}, then {len(theirs)}, {len(ours & theirs)} of them in both"
        return [Difference(ITEMS, f"{key}: {counts}")]
    return []


def _how(base: Any, new: Any) -> str:
    """Two values that differ, or of lists and mappings what differs in them."""
    if isinstance(base, list) and isinstance(new, list):
        ours, theirs = cast("list[Any]", base), cast("list[Any]", new)
        # Whole, as specs of decoders differ at their ends.
        gone = [_plain(each) for each in ours if each not in theirs]
        come = [_plain(each) for each in theirs if each not in ours]
        said = [("without ", gone), ("with ", come)]
        return "the new run " + " and ".join(word + ", ".join(each) for word, each in said if each)
    if isinstance(base, dict) and isinstance(new, dict):
        ours, theirs = cast("dict[str, Any]", base), cast("dict[str, Any]", new)
        for name in dict.fromkeys([*ours, *theirs]):
            one, other = ours.get(name, _ABSENT), theirs.get(name, _ABSENT)
            if _text(one) != _text(other):
                return f"{name} {_short(one)}, then {_short(other)}"
    return f"{_short(base)}, then {_short(new)}"


def _text(value: Any) -> str:
    # Dumped, because 1 == True in Python.
    return "absent" if isinstance(value, _Absent) else json.dumps(value, sort_keys=True)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _text(value)


def _short(value: Any) -> str:
    text = _plain(value)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
