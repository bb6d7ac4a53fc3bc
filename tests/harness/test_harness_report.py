"""`report`: a run ends with its page, the command makes it anew, and mistakes are one line."""

import json
import shutil
from pathlib import Path

import pytest

from tests.harness.conftest import Finished
from tests.harness.tiny import SPECS, harness, manifest, refused


@pytest.fixture
def run(finished: Finished, tmp_path: Path) -> Path:
    """A copy, under the same name."""
    return shutil.copytree(finished.folder, tmp_path / "copy" / finished.folder.name)


def test_a_run_ends_with_its_page(finished: Finished):
    page = (finished.folder / "report.html").read_text(encoding="utf-8")
    assert str(finished.folder / "report.html") in finished.result.stdout
    start = page.index(">", page.index('<script type="application/json"')) + 1
    data = json.loads(page[start : page.index("</script>", start)])
    assert len(data["samples"]) == 4 * len(SPECS)
    assert {data["strings"][sample[3]] for sample in data["samples"]} == {*SPECS}
    # Who is compared with whom is known, so no agreement is missing.
    references = manifest(finished.folder)["references"]
    assert references[SPECS[-1]] == "block-ar(block=4)"
    assert -1 not in {sample[6] for sample in data["samples"]}


def test_the_command_makes_the_files_anew(run: Path):
    before = {path: path.read_bytes() for path in run.glob("tables/summary.*")}
    old = (run / "report.html").read_bytes()
    for path in [*before, run / "report.html"]:
        path.unlink()
    result = harness("report", run)
    assert result.exit_code == 0, result.output
    listed = [Path(line) for line in result.stdout.splitlines()]
    assert listed[0] == run / "report.html"
    assert {path.name for path in listed} >= {"summary.tex", "gsm8k.pdf", "gsm8k.png"}
    assert all(path.exists() for path in listed)
    assert before == {path: path.read_bytes() for path in run.glob("tables/summary.*")}
    assert (run / "report.html").read_bytes() == old


def test_several_runs_go_into_a_folder_of_their_own(run: Path, finished: Finished, tmp_path: Path):
    result = harness("report", run, finished.folder, "--out", tmp_path / "both")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "both" / "report.html").exists()
    assert len((tmp_path / "both" / "tables" / "summary.csv").read_text().splitlines()) == 23


def test_mistakes_are_one_line(run: Path, finished: Finished, tmp_path: Path):
    refused(harness("report", tmp_path), "not a run folder")
    refused(harness("report", run, run, "--out", tmp_path / "x"), "given twice")
    refused(harness("report", run, finished.folder), "--out")
    refused(harness("report", run, finished.folder, "--out", run), "is a run folder")
    refused(harness("report", run, "--out", finished.folder), "is a run folder")
    (run / "summary.json").write_text("{")
    refused(harness("report", run), "summary.json is not a summary")
    (run / "summary.json").unlink()
    refused(harness("report", run), "summary.json does not exist")
    assert not (tmp_path / "x").exists()
