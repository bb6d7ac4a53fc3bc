"""The page of a real run of `nano`: four tasks under all eleven decoders, in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from results import read_run
from tests.browser import CONTRASTS, Opened, brightness, column, load_seconds, open_page
from tests.harness.tiny import SPECS, harness

TASKS = ("gsm8k", "math500", "humaneval_plus", "mmlu")
ITEMS = 2


@pytest.fixture(scope="module")
def nano_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "nano"
    options = ["--tasks", ",".join(TASKS), "--decoders", "all", "--limit", ITEMS, "--traces", 1]
    result = harness("run", *options, "--batch-size", ITEMS, "--out", folder)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def opened(browser: Browser, nano_run: Path) -> Iterator[Opened]:
    yield from open_page(browser, nano_run / "report.html")


def test_the_tables_sort_and_filter(opened: Opened, capsys: pytest.CaptureFixture[str]):
    page = opened.page
    with capsys.disabled():
        print(f"\nreport.html of a run of nano loaded in {load_seconds(page):.2f} s")
    assert page.locator("#filter-count").inner_text() == "44 of 44 rows"
    head = page.locator("#summary-table th", has_text=re.compile("^tokens/s"))
    head.locator("button").click()
    at = head.evaluate("each => each.cellIndex + 1")
    speeds = [float(text) for text in column(page, "summary-table", at)]
    assert speeds == sorted(speeds)
    assert speeds[0] < speeds[-1]
    page.locator("#filter-task").select_option("math500")
    assert page.locator("#filter-count").inner_text() == "11 of 44 rows"


def test_its_samples_are_all_there(opened: Opened, nano_run: Path):
    page, records = opened.page, read_run(nano_run).records
    assert len(records) == ITEMS * len(TASKS) * len(SPECS)
    count = page.locator("#sample-count")
    assert count.inner_text().split()[0] == str(len(records))
    page.locator("#sample-wrong").check()
    wrong = sum(record.correct is False for record in records)
    assert count.inner_text().split()[0] == str(wrong)


def test_its_traces_step(opened: Opened, nano_run: Path):
    page = opened.page
    assert page.locator("#trace-item option").count() == len(TASKS)
    page.locator("#trace-b").select_option(label=SPECS[-1])
    first = page.locator("#trace-item option").first.inner_text()
    (record,) = (
        each
        for each in read_run(nano_run).records
        if each.item_id == first and each.decoder == SPECS[-1]
    )
    assert record.kept is not None
    for at in (0, 3, len(record.kept)):
        page.locator("#trace-step").fill(str(at))
        shown = page.locator("#side-b .tok:not(.rejected):not(.past)")
        assert shown.count() == sum(record.kept[:at])


def test_it_can_be_read_in_both_themes(opened: Opened):
    means = {}
    for scheme in ("light", "dark"):
        opened.page.emulate_media(color_scheme=scheme)  # pyright: ignore
        contrasts = opened.page.evaluate(CONTRASTS)
        assert not [(value, where) for value, where in contrasts if value < 4.5]
        means[scheme] = brightness(opened.page.screenshot())
    assert means["light"] > 200
    assert means["dark"] < 60
