"""Run folders to which anything has happened: damage is an error in words, and no number of it
gets into a report or a verdict."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_fakes import report_records, write_run
from results_fakes import failed, record

from results.atomic import write_atomic
from results.gate import Rules, judge
from results.records import SampleRecord
from results.report.runs import ReportedRun, read_reported_runs
from results.sample_files import append_record, encode_line, read_samples, samples_path
from results.store import StoredRun, read_run
from results.summary import summarise
from results.tables import read_summary, summary_latex, summary_markdown
from results.text_tables import latex_table, markdown_line
from results.traces import read_traces

DEEP = "[" * 200_000
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(
        tmp_path_factory.mktemp("whole") / "run", report_records(3, ("gsm8k", "mmlu"))
    )


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "run")


def report(folder: Path) -> ReportedRun:
    (found,) = read_reported_runs([folder])
    return found


def changed(path: Path, change: Change) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


# Nothing that can be read from a folder is deeper than Python reads, or of another kind.


@pytest.mark.parametrize(
    "file", ["manifest.json", "summary.json", "samples/gsm8k/ar.jsonl", "traces/gsm8k.jsonl"]
)
def test_json_too_deep_to_be_read_is_no_json(run: Path, file: str):
    (run / file).write_text(f"{DEEP}\n\n")
    with pytest.raises(ValueError, match=file.rpartition("/")[2]):
        report(run)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update(config=[]), "config is "),
        (lambda m: m.update(invocations=None), "invocations is None"),
        (lambda m: m.update(invocations=["x"]), r"invocations\[0\] is 'x'"),
        (lambda m: m.update(software=None), "software is None"),
        (lambda m: m.update(references=["x"]), "references is "),
        (lambda m: m.update(warnings="abc"), "warnings is 'abc'"),
        (lambda m: m["config"].update(tasks=5), "config.tasks is 5"),
        (lambda m: m["config"].update(tasks=["a", 1]), r"config.tasks\[1\] is 1"),
        (lambda m: m["config"].update(sources=["x"]), "config.sources is "),
        (lambda m: m["invocations"][0].update(arguments="run"), r"invocations\[0\].arguments"),
        (lambda m: m["invocations"][0].update(other_load="x"), "other_load is 'x'"),
        (lambda m: m["hardware"].update(memory_bytes="x"), "hardware.memory_bytes is 'x'"),
        (lambda m: m["software"].update(git_commit=3), "software.git_commit is 3"),
    ],
)
def test_a_manifest_s_values_are_of_their_kind(run: Path, change: Change, said: str):
    changed(run / "manifest.json", change)
    with pytest.raises(ValueError, match=rf"manifest\.json is not a run's manifest: .*{said}"):
        read_run(run)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", "x"),
        ("accuracy", float("nan")),
        ("speedup", float("inf")),
        ("tokens_per_s", 10**400),
        ("items", "3"),
        ("items", 3.5),
        ("items", True),
        ("failed", None),
        ("decoder", 4),
        ("p_holm", [1]),
        ("unheard_of", 1),
    ],
)
def test_a_summary_s_values_are_of_their_kind(run: Path, name: str, value: object):
    changed(run / "summary.json", lambda data: data["rows"][0].update({name: value}))
    with pytest.raises(ValueError, match=rf"summary\.json is not a summary.*{name}"):
        read_summary(run)


def test_a_summary_s_row_lacks_nothing(run: Path):
    changed(run / "summary.json", lambda data: data["rows"][0].pop("failed"))
    with pytest.raises(ValueError, match="a row lacks failed"):
        read_summary(run)


@pytest.mark.parametrize("value", [10**400, 1e300, 5e-324])
def test_no_number_makes_a_sum_or_a_ratio_infinite(value: float):
    with pytest.raises(ValueError, match="compute_s is "):
        record(compute_s=value)
    if isinstance(value, int):
        with pytest.raises(ValueError, match="query_slots is "):
            record(query_slots=value)


@pytest.mark.parametrize("value", [1e308, 10**400, -0.1, 1.5])
def test_a_trace_s_confidence_is_a_share(run: Path, value: float):
    path = run / "traces" / "gsm8k.jsonl"
    trace = json.loads(path.read_text().splitlines()[0])
    trace["steps"][0]["proposed"][0]["confidence"] = value
    path.write_text(json.dumps(trace) + "\n")
    with pytest.raises(ValueError, match="expected 0 to 1"):
        read_traces(path)


# What was written at different times does not stand in one report.


def test_a_retried_sample_makes_the_summary_an_old_one(tmp_path: Path):
    records = [record("t/0"), failed("t/1")]
    folder = write_run(tmp_path / "run", records, traced=0)
    assert [row.failed for row in report(folder).rows] == [1]
    append_record(samples_path(folder, "gsm8k", "ar"), record("t/1"))
    with pytest.raises(ValueError, match=r"summary\.json is not of the samples.*--resume"):
        report(folder)


def test_a_further_repeat_makes_the_summary_an_old_one(tmp_path: Path):
    folder = write_run(tmp_path / "run", [record("t/0"), record("t/1")], traced=0)
    append_record(samples_path(folder, "gsm8k", "ar"), record("t/1", repeat=1, compute_s=0.7))
    with pytest.raises(ValueError, match=r"summary\.json is not of the samples"):
        report(folder)


def test_samples_of_another_model_make_the_summary_an_old_one(run: Path):
    path = run / "samples" / "gsm8k" / "ar.jsonl"
    records = [replace(each, model="other") for each in read_samples(path).records]
    path.write_bytes(b"".join(map(encode_line, records)))
    with pytest.raises(ValueError, match=r"summary\.json is not of the samples"):
        report(run)


def test_a_row_that_stands_twice_is_no_summary_of_the_samples(run: Path):
    changed(run / "summary.json", lambda data: data["rows"].append(data["rows"][0]))
    with pytest.raises(ValueError, match=r"summary\.json is not of the samples"):
        report(run)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",1,subject algebra,1,", ",1,subject algebra,2,", "not of the samples"),
        ("\nmmlu,ar,1,", "\nmmlu,nobody,1,", "not of the samples"),
        (",1,subject algebra,1,", ",1,subject algebra,1,nan,,\n#", "not a breakdown"),
    ],
)
def test_a_breakdown_is_of_the_samples(run: Path, old: str, new: str, said: str):
    path = run / "tables" / "breakdown.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"breakdown\.csv is {said}"):
        report(run)


def test_a_trace_is_of_a_sample(run: Path):
    path = run / "traces" / "gsm8k.jsonl"
    trace = json.loads(path.read_text().splitlines()[0]) | {"item_id": "nowhere"}
    path.write_text(json.dumps(trace) + "\n")
    with pytest.raises(ValueError, match=r"one of nowhere of gsm8k under ar.*no sample"):
        report(run)


def stored(*records: SampleRecord) -> StoredRun:
    config = {"dtype": "float32", "decoders": ["ar"]}
    manifest = {"schema": 1, "config": config, "invocations": []}
    return StoredRun(folder=Path("run"), manifest=manifest, records=[*records])


def test_a_gate_that_has_nothing_to_judge_says_so():
    """Two runs that fail altogether are not alike in speed, accuracy and ids."""
    broken, whole = stored(failed("0"), failed("1")), stored(record("0"), record("1"))
    for base, new in ((broken, broken), (broken, whole)):
        with pytest.raises(ValueError, match="no item that both completed"):
            judge(base, new, Rules())
    assert judge(whole, broken, Rules()).failed


# Names may hold anything.


def test_no_name_breaks_a_table():
    assert markdown_line(["a|b\nc", "d\u2028e\r\nf"]) == "| a\\|b c | d e f |"
    table = latex_table(["p"], [[["<0.001"], ["a|b\n\nc"]]], [])
    assert table.splitlines()[4:6] == ["$<$0.001 \\\\", "a\\textbar{}b  c \\\\"]


def test_no_name_ends_a_comment_or_a_title():
    model = "x\n\\input{y}\n# z"
    rows = summarise([record("0", model=model)], {}, "ar")
    for text in (
        summary_latex(rows, "ar", ["w\n\\input{y}"]),
        summary_markdown(rows, "ar", ["w\n# z"]),
    ):
        assert not [line for line in text.splitlines() if line.startswith(("\\input", "# z"))]


def test_what_has_no_utf_8_is_written_as_its_escape(tmp_path: Path):
    write_atomic(tmp_path / "file", "a\udcffb τ")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "a\\udcffb τ"
