"""The page and the files beside it: what they say, and that nothing in a run can break them."""

import csv
import json
import random
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_fakes import HOSTILE, REFERENCES, SPECS, TASKS, report_records, write_run
from results_fakes import failed

from results import SampleRecord
from results.report.accepted import accepted_tables
from results.report.charts import batch_curves, series_of, trade_offs
from results.report.files import write_report
from results.report.page import render_page, write_page
from results.report.runs import ReportedRun, read_reported_runs
from results.report.samples import SAMPLE_BYTES, page_data, script_json
from results.report.svg import ticks
from results.tables import (
    COMPARISON_HEADER,
    COST_HEADER,
    HEADER,
    area_lines,
    cells,
    comparison_cells,
    cost_cells,
)

ITEMS = 6
VOID = {"meta", "input", "br", "wbr", "path", "hr"}


class Reader(HTMLParser):
    """Tags with their attributes, texts of tables, and the scripts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: list[str] = []
        self._open: list[str] = []
        self._table: list[list[str]] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._table = self.tables.setdefault(dict(attrs).get("id") or f"{len(self.tags)}", [])
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._table[-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self._open or "th" in self._open:
            self._table[-1][-1] += data
        elif self._open and self._open[-1] == "script":
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be changed."""
    records = report_records(ITEMS)
    broken = failed("mmlu/embedded/9999", SPECS[-1], task="mmlu", error=HOSTILE[0])
    return write_run(tmp_path_factory.mktemp("report") / "a <run>", [*records, broken])


@pytest.fixture(scope="module")
def run(folder: Path) -> ReportedRun:
    (found,) = read_reported_runs([folder])
    return found


@pytest.fixture(scope="module")
def page(run: ReportedRun) -> str:
    return render_page([run])


def data_of(page: str) -> dict[str, Any]:
    return json.loads(Reader(page).scripts[0])


def test_the_page_needs_nothing_else(page: str):
    reader = Reader(page)
    names = {name for tag, attributes in reader.tags for name in attributes}
    assert not names & {"src", "srcset", "background", "action"}
    assert not {tag for tag, _ in reader.tags} & {"link", "img", "iframe", "object", "base"}
    targets = {each["href"] for tag, each in reader.tags if "href" in each}
    assert targets
    identities = [each["id"] for _, each in reader.tags if each.get("id")]
    assert len(identities) == len(set(identities))
    assert {f"#{name}" for name in identities} >= targets
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = [each["content"] for _, each in reader.tags if "http-equiv" in each]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert not {name for name in names if name.startswith("on")}


def test_answers_cannot_break_the_page(page: str, run: ReportedRun):
    reader = Reader(page)
    assert [each.get("type") for tag, each in reader.tags if tag == "script"] == [
        "application/json",
        None,
    ]
    assert "<!--" not in page
    assert "onerror=alert" in page
    strings = set(data_of(page)["strings"])
    texts = {record.text or record.error for record in run.records}
    assert texts <= strings
    for hostile in HOSTILE:
        assert any(hostile in text for text in strings), hostile
    page.encode()
    # A name from the manifest and one of a subject.
    assert "&lt;logic&gt;" in page
    assert "a <run>" not in page


JSON = st.recursive(
    st.text(st.characters(exclude_categories=[]))
    | st.sampled_from(HOSTILE)
    | st.integers()
    | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_json_for_scripts_is_json_and_has_no_tag(value: object):
    text = script_json(value)
    # Two surrogates in a row are read as the one character they encode.
    assert json.loads(text) == json.loads(json.dumps(value))
    assert not set(text) & set("<>&\u2028\u2029")
    text.encode()


def test_tables_say_what_the_summary_says(page: str, run: ReportedRun):
    tables = Reader(page).tables
    head, *lines = tables["summary-table"]
    # One source, so no column for it.
    assert [name.replace("\u00a0", " ") for name in head] == [
        *("decoder", "task", *HEADER[1:2], *HEADER[3:])
    ]
    shown = [[text.replace("(", " (") for text in line[2:]] for line in lines]
    assert shown == [[*cells(row)[1:2], *cells(row)[3:]] for row in run.rows]
    assert [line[1] for line in lines] == [row.task for row in run.rows]
    assert [line[0] for line in lines][:4] == [
        "ar",
        "block-ar",
        "greedy-confidence (τ\u00a00.98)",
        "greedy-confidence (τ\u00a00.9)",
    ]
    head, *lines = tables["comparison-table"]
    compared = [row for row in run.rows if row.paired_items]
    assert len(head) == 1 + len(COMPARISON_HEADER)
    assert [[text.replace("(", " (") for text in line[2:]] for line in lines] == [
        [*comparison_cells(row)[1:]] for row in compared
    ]
    for line in area_lines(run.rows[: len(SPECS)], "ar"):
        assert f"<li>gsm8k: embedded items, model nano, batch size 1. {line}</li>" in page
    assert page.count("Area under the trade-off: ") == len(TASKS)
    head, *lines = tables["cost-table"]
    assert len(head) == 1 + len(COST_HEADER)
    assert [line[2:] for line in lines] == [[*cost_cells(row)[1:]] for row in run.rows]


def test_the_heading_says_what_ran_and_what_speaks_against_it(page: str):
    for expected in (
        "python -m harness run --tasks gsm8k,math500,humaneval_plus,mmlu --decoders all",
        "Made-up CPU, 2 cores, 2 threads, 8 GiB memory",
        "2026-11-30T09:00:00+00:00",
        "Python 3.11.7, torch 2.13.0",
        "when the run began other programs took 40% of the cores",
        "the code had changes that its commit does not hold",
        "1 samples failed",
        "a made-up reason to doubt",
    ):
        assert expected in page
    assert len(re.findall(r"<b>[\d.,]+ tokens/s</b>", page)) == len(TASKS)


def test_one_core_is_not_called_cores(tmp_path: Path):
    folder = write_run(tmp_path / "run", report_records(2, ("gsm8k",)))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["hardware"] |= {"usable_cores": 1, "threads": 2}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "Made-up CPU, 1 core, 2 threads, 8 GiB" in render_page(read_reported_runs([folder]))


def test_disagreement_is_with_the_reference_of_the_same_run(tmp_path: Path):
    """Two runs of the same items whose answers all differ from one run to the other."""
    records = report_records(ITEMS, ("gsm8k",))
    others = [replace(each, ids=[n + 1 for n in each.ids or ()]) for each in records]
    runs = read_reported_runs(
        [write_run(tmp_path / "one", records), write_run(tmp_path / "two", others)]
    )
    data = page_data(runs)
    strings = data["strings"]
    ids = {(each.item_id, each.decoder): each.ids for each in records}
    assert len(data["samples"]) == 2 * len(records)
    for number, task, item, decoder, _, _, differs, *_ in data["samples"]:
        assert (strings[task], number in (0, 1)) == ("gsm8k", True)
        reference = REFERENCES.get(strings[decoder])
        own = ids[strings[item], strings[decoder]]
        expected = -1 if reference is None else int(own != ids[strings[item], reference])
        assert differs == expected
    assert {sample[6] for sample in data["samples"]} == {-1, 0, 1}


def test_an_item_of_which_a_repeat_failed_has_failed_everywhere(tmp_path: Path):
    records = report_records(3, ("math500",))
    broken = failed(records[0].item_id, "ar", task="math500", repeat=1)
    (run,) = read_reported_runs([write_run(tmp_path / "run", [*records, broken], traced=0)])
    data = page_data([run])
    ends = [data["strings"][sample[10]] for sample in data["samples"]]
    assert ends.count("failed") == sum(row.failed for row in run.rows) == 1
    assert len(ends) == len(records)


def test_a_run_that_names_no_references_says_so(tmp_path: Path):
    folder = write_run(tmp_path / "run", report_records(2, ("gsm8k",)))
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["references"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    page = render_page(read_reported_runs([folder]))
    assert "names no reference decoders" in page
    assert {sample[6] for sample in data_of(page)["samples"]} == {-1}


def long_answers(items: int, length: int) -> list[SampleRecord]:
    """Under one decoder, all different."""
    rng = random.Random(1)
    return [
        replace(record, text="".join(rng.choices("abcdef <é", k=length)))
        for record in report_records(items, ("gsm8k", "math500"))
        if record.decoder == "ar"
    ]


def test_a_thousand_samples_make_a_small_page(tmp_path: Path):
    folder = write_run(tmp_path / "run", long_answers(500, 1000), traced=2)
    path = write_page(read_reported_runs([folder]), folder)
    data = data_of(path.read_text(encoding="utf-8"))
    assert len(data["samples"]) == 1000
    assert path.stat().st_size < 5e6


def test_a_page_of_many_long_answers_shows_some_items_of_each_task(tmp_path: Path):
    records = long_answers(300, 12_000)
    runs = read_reported_runs([write_run(tmp_path / "run", records)])
    data = page_data(runs)
    assert data["items"] == 600
    assert 100 < data["shown"] < 600
    counts = Counter(data["strings"][sample[1]] for sample in data["samples"])
    assert abs(counts["gsm8k"] - counts["math500"]) <= 1
    assert SAMPLE_BYTES < len(script_json(data).encode()) < 4.5e6


def test_accepted_lengths_are_counted_in_decode_forwards(run: ReportedRun):
    for table in accepted_tables([run]):
        for line in table.lines:
            kept = [
                length
                for record in run.records
                if (record.task, record.decoder) == (table.task, line.decoder)
                for length in (record.kept or [])[1:]
                if length
            ]
            for name, bar in zip(table.lengths, line.lengths, strict=True):
                assert bar.share == pytest.approx(kept.count(int(name)) / len(kept))
            assert line.mean == f"{sum(kept) / len(kept):.2f}"
    assert [table.task for table in accepted_tables([run])] == [*TASKS]


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e6), st.integers(3, 9))
def test_ticks_are_few_round_and_inside(lo: float, span: float, most: int):
    hi = lo + span
    found = ticks(lo, hi, most)
    assert 1 <= len(found) <= most
    assert all(lo - 1e-6 * span <= value <= hi + 1e-6 * span for value in found)
    steps = {round((b - a) / span, 6) for a, b in pairwise(found)}
    assert len(steps) <= 1


def test_sections_are_there_where_there_is_something_to_show(page: str, tmp_path: Path):
    assert 'id="batch"' not in page
    assert 'id="sweep"' in page
    records = report_records(4, ("gsm8k",))
    both = [*records, *(replace(record, batch_size=8) for record in records)]
    few = [record for record in both if "tau" not in record.decoder]
    (sizes,) = read_reported_runs([write_run(tmp_path / "sizes", few)])
    (figure,) = batch_curves([sizes], series_of(sizes.rows, "ar"))
    assert [chart.y for chart in figure.charts] == ["tokens_per_s", "speedup"]
    for chart in figure.charts:
        assert [[dot.x for dot in curve.dots] for curve in chart.curves] == [[1, 8]] * 3
    page = render_page([sizes])
    assert 'id="batch"' in page
    assert 'id="sweep"' not in page
    assert 'id="parts"' not in page
    # Unscored answers have no accuracy, and none is made up.
    bare = [
        replace(
            record,
            correct=None,
            answer=None,
            extracted_by=None,
            fixed_length=len(record.ids or ()),
            finish="length",
            finished=False,
        )
        for record in records
    ]
    page = render_page(read_reported_runs([write_run(tmp_path / "fixed", bare)]))
    assert 'aria-label="accuracy over' not in page
    assert "<p>Left:" not in page
    assert 'aria-label="wall-clock speedup over tokens per forward' in page


def test_charts_hold_every_row_and_the_ideal_line_is_the_baseline_s_cost(run: ReportedRun):
    figures = trade_offs([run], series_of(run.rows, "ar"), "ar")
    assert [figure.task for figure in figures] == [*TASKS]
    for figure in figures:
        rows = [row for row in run.rows if row.task == figure.task]
        accuracy, overhead = figure.charts
        for chart in figure.charts:
            dots = [dot for curve in chart.curves for dot in curve.dots]
            assert sorted((dot.x, dot.y) for dot in dots) == sorted(
                (getattr(row, chart.x), getattr(row, chart.y)) for row in rows
            )
            assert all(chart.x_range[0] <= x <= chart.x_range[1] for d in dots for x in d.across)
            assert all(chart.y_range[0] <= y <= chart.y_range[1] for d in dots for y in d.up)
        dots = {(dot.x, dot.y) for curve in accuracy.curves for dot in curve.dots}
        beaten = {(x, y) for x, y in dots if any(u >= x and v >= y for u, v in dots - {(x, y)})}
        assert set(accuracy.front) == dots - beaten
        (start, end) = overhead.guides[0]
        assert start == (0, 0)
        assert end[1] / end[0] == pytest.approx(1 / (rows[0].tokens_per_forward or 0))


def test_one_run_is_written_into_its_own_folder(folder: Path, run: ReportedRun):
    before = {path: path.read_bytes() for path in folder.glob("tables/*")}
    written = write_report([run], folder)
    names = {str(path.relative_to(folder)) for path in written}
    assert names == {
        "report.html",
        "summary.json",
        *(f"tables/{n}.{k}" for n in ("summary", "breakdown") for k in ("md", "csv", "tex")),
        *(
            f"plots/{task}{name}.{kind}"
            for task in TASKS
            for name in ("", "-overhead", "-threshold")
            for kind in ("png", "svg", "pdf")
        ),
    }
    assert all(path.stat().st_size for path in written)
    assert before == {path: path.read_bytes() for path in folder.glob("tables/*")}


def test_several_runs_stay_apart(folder: Path, run: ReportedRun, tmp_path: Path):
    other = write_run(tmp_path / "other", report_records(2, ("gsm8k",), seed=5))
    runs = read_reported_runs([folder, other])
    out = tmp_path / "both"
    written = write_report(runs, out)
    assert not (out / "summary.json").exists()
    with (out / "tables" / "summary.csv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    assert [row["run"] for row in rows] == ["a <run>"] * len(run.rows) + ["other"] * len(SPECS)
    assert [row["decoder"] for row in rows[-len(SPECS) :]] == [*SPECS]
    assert out / "plots" / "other-gsm8k.pdf" in written
    assert out / "tables" / "a%20%3Crun%3E-breakdown.tex" in written
    latex = (out / "tables" / "summary.tex").read_text()
    for text in (latex, (out / "tables" / "summary.md").read_text()):
        assert text.count("warning: a made-up reason to doubt") == 2
    # Speed and accuracy, the comparison, what it cost.
    assert latex.count(r"\begin{tabular}") == 3 * (len(TASKS) + 1)
    table = Reader((out / "report.html").read_text(encoding="utf-8")).tables["summary-table"]
    assert table[0][:4] == ["decoder", "task", "run", "model"]
    assert {line[2] for line in table[1:]} == {"a <run>", "other"}


def test_mistakes_name_the_folder(folder: Path, tmp_path: Path):
    with pytest.raises(ValueError, match=r"is not a run folder"):
        read_reported_runs([tmp_path])
    with pytest.raises(ValueError, match=r"is given twice"):
        read_reported_runs([folder, folder / ".." / folder.name])
    records = report_records(2, ("gsm8k",))
    with pytest.raises(ValueError, match=r"holds no samples"):
        read_reported_runs([write_run(tmp_path / "empty", [])])
    stale = write_run(tmp_path / "stale", records)
    (stale / "samples" / "gsm8k" / "ar.jsonl").unlink()
    with pytest.raises(ValueError, match=r"summary.json is not of the samples.*--resume"):
        read_reported_runs([stale])
    unread = write_run(tmp_path / "unread", records)
    with (unread / "traces" / "gsm8k.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(ValueError, match=r"gsm8k.jsonl, line 23: got \{\}, expected a trace"):
        read_reported_runs([unread])
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"can't be written"):
        write_report(read_reported_runs([folder]), tmp_path / "file")
