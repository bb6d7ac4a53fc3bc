"""What the page says before any number: what ran, on which machine, and what speaks against it."""

import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from results.measured import NOISY_LOAD
from results.report.runs import ReportedRun

_ENGINE = ("device", "dtype", "attention", "quantize", "seed")


class Fact(NamedTuple):
    name: str
    value: str


class Heading(NamedTuple):
    """Of one run."""

    name: str
    facts: list[Fact]
    commands: list[str]
    warnings: list[str]
    baselines: list[Fact]
    """The baseline's tokens/s in each setting, without which no speedup means anything."""
    config: str
    """All of the configuration, as JSON."""


def heading(run: ReportedRun, baseline: str) -> Heading:
    manifest = run.manifest
    return Heading(
        name=run.name,
        facts=[fact for fact in _facts(manifest) if fact.value],
        commands=[_command(each) for each in manifest["invocations"]],
        warnings=_warnings(run, baseline),
        baselines=_baselines(run, baseline),
        config=json.dumps(manifest["config"], indent=2, ensure_ascii=False),
    )


def _facts(manifest: Mapping[str, Any]) -> list[Fact]:
    config, hardware = manifest["config"], manifest.get("hardware", {})
    software = manifest.get("software", {})
    packages: dict[str, str | None] = software.get("packages", {})
    versions = [f"{name} {version}" for name, version in packages.items() if version]
    python = [f"Python {software['python']}"] if "python" in software else []
    dates = [each["started"] for each in manifest["invocations"] if "started" in each]
    sources: dict[str, str] = config.get("sources", {})
    return [
        Fact("model", str(config.get("model", ""))),
        Fact("baseline model", str(config.get("baseline_model") or "")),
        Fact("items", ", ".join(f"{task} ({source})" for task, source in sources.items())),
        Fact("machine", _machine(hardware)),
        Fact("started", ", ".join(dates)),
        Fact("engine", ", ".join(f"{name} {config[name]}" for name in _ENGINE if name in config)),
        Fact("versions", ", ".join([*python, *versions])),
        Fact("commit", str(software.get("git_commit") or "")),
        Fact("weights", str(config.get("model_sha256", ""))[:16]),
    ]


def _machine(hardware: Mapping[str, Any]) -> str:
    words = [str(hardware[name]) for name in ("gpu", "cpu") if name in hardware]
    if "usable_cores" in hardware:
        counts = (("core", hardware["usable_cores"]), ("thread", hardware.get("threads")))
        words += [f"{count} {name}" + "s" * (count != 1) for name, count in counts]
    if "memory_bytes" in hardware:
        words.append(f"{hardware['memory_bytes'] / 2**30:.0f} GiB memory")
    return ", ".join(words)


def _command(invocation: Mapping[str, Any]) -> str:
    return "python -m harness " + shlex.join(invocation.get("arguments", []))


def _warnings(run: ReportedRun, baseline: str) -> list[str]:
    found = [*run.warnings]
    loads = [each.get("other_load") for each in run.manifest["invocations"]]
    if busy := [load for load in loads if load is not None and load > NOISY_LOAD]:
        found.append(f"when the run began other programs took {max(busy):.0%} of the cores")
    if (run.manifest.get("software", {}).get("git_commit") or "").endswith("+"):
        found.append("the code had changes that its commit does not hold")
    if failed := sum(record.error is not None for record in run.records):
        found.append(f"{failed} samples failed; they count in no number but `failed`")
    if not any(row.decoder == baseline for row in run.rows):
        found.append(f"the baseline {baseline} was left out: there are no speedups")
    if run.references is None:
        found.append(
            "the manifest names no reference decoders: disagreeing answers are not marked"
        )
    return found


def _baselines(run: ReportedRun, baseline: str) -> list[Fact]:
    return [
        Fact(
            f"{row.task}, batch size {row.batch_size}",
            "not measured" if row.tokens_per_s is None else f"{row.tokens_per_s:,.1f} tokens/s",
        )
        for row in run.rows
        if row.decoder == baseline
    ]
