"""The page in a browser: it loads without a complaint, and every control does what it says."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report_fakes import TASKS, report_records, write_run

from results.report.page import write_page
from results.report.runs import ReportedRun, read_reported_runs
from tests.browser import CONTRASTS, Opened, brightness, column, load_seconds, open_page


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ReportedRun:
    """Four tasks under eleven decoders, 1,100 samples."""
    folder = write_run(tmp_path_factory.mktemp("browser") / "run", report_records(25))
    (found,) = read_reported_runs([folder])
    write_page([found], folder)
    return found


@pytest.fixture
def opened(browser: Browser, run: ReportedRun) -> Iterator[Opened]:
    """The page, open; at the end nothing may have been complained of."""
    yield from open_page(browser, run.folder / "report.html")


def test_it_loads(opened: Opened, capsys: pytest.CaptureFixture[str]):
    with capsys.disabled():
        print(f"\nreport.html of 1,100 samples loaded in {load_seconds(opened.page):.2f} s")
    assert opened.page.title() == f"nano on {', '.join(TASKS)} – sdlm-bench"
    assert opened.page.locator("figure svg").count() == 4 * len(TASKS)


def test_tables_are_sorted_by_pointer_and_by_keyboard(opened: Opened):
    page = opened.page
    head = page.locator("#summary-table th", has_text=re.compile("^tokens/s"))
    at = head.evaluate("each => each.cellIndex + 1")
    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").click()
    numbers = [float(text) for text in column(page, "summary-table", at)]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1]
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert [float(text) for text in column(page, "summary-table", at)] == numbers[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    # Names with numbers are sorted by them, and the other heading lets go.
    page.locator("#summary-table th").first.locator("button").press("Space")
    names = column(page, "summary-table", 1)
    assert names == sorted(names)
    assert names[0] == "ar"
    assert head.get_attribute("aria-sort") == "none"


def test_thresholds_are_sorted_as_decimals(browser: Browser, run: ReportedRun, tmp_path: Path):
    taus = ("0.9", "0.82", "0.8", "1.0")
    rows = [replace(run.rows[2], decoder=f"entropy(tau={tau})") for tau in taus]
    page = write_page([replace(run, rows=rows, parts=[], records=[], traces=[])], tmp_path)
    for opened in open_page(browser, page):
        opened.page.locator("#summary-table button").first.click()
        assert column(opened.page, "summary-table", 1) == [
            f"entropy (τ\u00a0{tau})" for tau in sorted(taus)
        ]


def test_undefined_numbers_are_last_either_way(browser: Browser, run: ReportedRun, tmp_path: Path):
    rows = [replace(run.rows[0], tokens_per_s=None), *run.rows[1:5]]
    page = write_page([replace(run, rows=rows, parts=[], records=[], traces=[])], tmp_path)
    for opened in open_page(browser, page):
        button = opened.page.locator("#summary-table button", has_text=re.compile("^tokens/s"))
        at = button.locator("xpath=..").evaluate("each => each.cellIndex + 1")
        for _ in range(2):
            button.click()
            assert column(opened.page, "summary-table", at)[-1] == "–"
        # Without traces it is said how to get them, and without samples that there are none.
        assert opened.page.locator("#no-traces").inner_text().startswith("This run kept no traces")
        assert not opened.page.locator("#trace-viewer").is_visible()
        assert "No sample fits" in opened.page.locator("#sample-card").inner_text()


def test_the_summary_is_filtered(opened: Opened):
    page = opened.page
    assert page.locator("#filter-count").inner_text() == "44 of 44 rows"
    page.locator("#filter-task").select_option("mmlu")
    assert set(column(page, "summary-table", 2)) == {"mmlu"}
    assert set(column(page, "comparison-table", 2)) == {"mmlu"}
    assert page.locator("#filter-count").inner_text() == "11 of 44 rows"
    page.locator("#filter-family").select_option("entropy")
    assert len(column(page, "summary-table", 1)) == 4
    page.locator("#filter-text").fill("tau=0.9,")
    assert column(page, "summary-table", 1) == ["entropy (τ\u00a00.9)"]
    page.locator("#filter-text").fill("nothing such")
    assert page.locator("#filter-count").inner_text() == "0 of 44 rows"


def test_samples_are_searched_and_shown(opened: Opened, run: ReportedRun):
    page = opened.page

    def count() -> int:
        return int(page.locator("#sample-count").inner_text().split()[0])

    assert count() == len(run.records)
    page.locator("#sample-wrong").check()
    assert count() == sum(record.correct is False for record in run.records)
    card = page.locator("#sample-card")
    assert "✗ wrong" in card.inner_text()
    page.locator("#sample-wrong").uncheck()
    page.locator("#sample-differs").check()
    differing = count()
    assert 0 < differing < len(run.records)
    assert "other ids than its reference" in card.inner_text()
    page.locator("#sample-task").select_option("mmlu")
    assert count() < differing
    page.locator("#sample-differs").uncheck()
    page.locator("#sample-text").fill("<IMG SRC=x")
    found = [r for r in run.records if r.task == "mmlu" and "<img src=x" in (r.text or "")]
    assert count() == len(found) > 0
    assert "<img src=x onerror=alert(1)>" in card.inner_text()
    page.locator("#sample-text").fill("")
    listed = page.locator("#sample-list")
    listed.press("ArrowDown")
    listed.press("ArrowDown")
    chosen = listed.locator('[aria-selected="true"]')
    assert (
        chosen.get_attribute("id") == listed.get_attribute("aria-activedescendant") == "sample-2"
    )
    assert chosen.locator(".sub").inner_text() in card.inner_text()


def test_a_trace_is_stepped_through(opened: Opened, run: ReportedRun):
    page = opened.page
    assert page.locator("#trace-item option").count() == 2 * len(TASKS)
    fast, slow = "self-speculative(verify=window,block=4)", "ar"
    page.locator("#trace-a").select_option(label=slow)
    page.locator("#trace-b").select_option(label=fast)
    steps = {
        trace.decoder: trace.steps
        for trace in run.traces
        if trace.item_id == run.traces[0].item_id and trace.task == run.traces[0].task
    }
    kept = {
        decoder: [[each.text for each in step.proposed[: step.kept]] for step in of_decoder]
        for decoder, of_decoder in steps.items()
    }
    slider = page.locator("#trace-step")
    assert int(slider.input_value()) == len(steps[slow])
    for at in (5, 0, 12):
        slider.fill(str(at))
        for side, decoder in (("a", slow), ("b", fast)):
            shown = page.locator(f"#side-{side} .tok:not(.rejected)")
            assert shown.count() == sum(map(len, kept[decoder][:at]))
            assert f"of {len(steps[decoder])} steps" in page.locator(f"#side-{side}").inner_text()
    slider.press("ArrowRight")
    assert page.locator("#trace-at").inner_text() == f"step 13 of {len(steps[slow])}"
    page.locator("#trace-back").click()
    assert page.locator("#trace-at").inner_text() == f"step 12 of {len(steps[slow])}"
    # A colour for each step, another for the next, and this step's rejected ones struck through.
    step = steps[fast][11]
    rejected = page.locator("#side-b .tok.rejected")
    assert rejected.count() == len(step.proposed) - step.kept > 0
    assert "line-through" in rejected.first.evaluate(
        "each => getComputedStyle(each).textDecoration"
    )
    colours = page.locator("#side-b .tok.first").evaluate_all(
        "all => all.map((each) => getComputedStyle(each).backgroundColor)"
    )
    assert len(colours) == len([tokens for tokens in kept[fast][:12] if tokens])
    assert all(a != b for a, b in pairwise(colours))
    proposals = page.locator("#side-b .proposals tr")
    assert proposals.count() == len(step.proposed)
    assert "✓ kept" in proposals.first.inner_text()
    assert "✗ rejected" in proposals.last.inner_text()
    # What the last step did not keep was not refused: it is the end, or lies past it.
    slider.fill(str(len(steps[slow])))
    last = steps[fast][-1]
    assert page.locator("#side-b .tok.past").count() == len(last.proposed) - last.kept > 0
    assert page.locator("#side-b .tok.rejected").count() == 0
    fates = [each.split()[-1] for each in proposals.all_inner_texts()]
    assert fates == ["kept"] * last.kept + ["counted"] * (len(last.proposed) - last.kept)


def test_confidences_are_told_to_pointer_and_keyboard(opened: Opened, run: ReportedRun):
    page = opened.page
    tip = page.locator("#tooltip")
    assert not tip.is_visible()
    page.locator("#side-b .tok").nth(3).hover()
    assert re.fullmatch(
        r"step \d+, proposal \d of 4, (kept|not counted), confidence [\d.]+ %", tip.inner_text()
    )
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    tokens = page.locator("#side-b .tok")
    stops = tokens.evaluate_all("all => all.filter((each) => each.tabIndex === 0).length")
    assert stops == 1
    page.locator('#side-b .tok[tabindex="0"]').focus()
    page.keyboard.press("Home")
    assert tokens.first.evaluate("each => each === document.activeElement")
    first = tip.inner_text()
    trace = next(t for t in run.traces if page.locator("#side-b h3").inner_text() == t.decoder)
    assert first == (
        f"step 1, proposal 1 of {len(trace.steps[0].proposed)}, kept, confidence "
        f"{100 * round(trace.steps[0].proposed[0].confidence, 3):.1f} %"
    )
    page.keyboard.press("ArrowRight")
    assert tip.inner_text() != first
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_a_sample_leads_to_its_trace(opened: Opened):
    page = opened.page
    page.locator("#sample-task").select_option("humaneval_plus")
    page.locator("#sample-decoder").select_option("block-ar(block=4)")
    page.locator("#sample-card button").click()
    assert page.locator("#side-b h3").inner_text() == "block-ar(block=4)"
    label = page.locator("#trace-item").evaluate("each => each.selectedOptions[0].text")
    assert label == "humaneval_plus/embedded/0000"


def test_both_themes_can_be_read(opened: Opened):
    page = opened.page
    page.locator("#trace-step").fill("12")
    means: dict[str, float] = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # pyright: ignore
        contrasts = page.evaluate(CONTRASTS)
        assert len(contrasts) > 1000
        assert not [(value, where) for value, where in contrasts if value < 4.5]
        means[scheme] = brightness(page.screenshot())
    assert means["light"] > 200
    assert means["dark"] < 60
    # The button has the last word, whatever the system says, and is remembered.
    button = page.locator("#theme")
    button.click()
    assert button.inner_text() == "Theme: light"
    assert brightness(page.screenshot()) > 200
    page.reload()
    opened.requests.pop()
    assert button.inner_text() == "Theme: light"
    button.click()
    assert button.inner_text() == "Theme: dark"
    page.emulate_media(color_scheme="light")
    assert brightness(page.screenshot()) < 60


def test_it_fits_a_phone_and_paper(opened: Opened):
    page = opened.page
    page.set_viewport_size({"width": 390, "height": 800})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("#theme").click()
    page.locator("#theme").click()
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator("#filters").is_visible()
    assert page.locator("#summary-table").is_visible()
    assert brightness(page.screenshot()) > 200
    assert page.pdf().startswith(b"%PDF")
