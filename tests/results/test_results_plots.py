"""The figure: what it says, that it hides nothing, and that it is the same twice."""

import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from results_fakes import REFERENCES, SPECS, THRESHOLDS, realistic_run

from results.families import families, parse_spec, shared_options, tau
from results.label_places import Box, Obstacle, best_place
from results.plots import trade_off_plot
from results.summary import SummaryRow, summarise

PACKAGE = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def rows() -> list[SummaryRow]:
    return summarise(realistic_run(items=40), REFERENCES, "ar")


def comments(path: Path) -> str:
    """Every text of an SVG: matplotlib draws text as paths and notes the words beside them."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.parse(path, parser).getroot()
    return "\n".join(each.text or "" for each in root.iter() if callable(each.tag))


def test_three_files_that_say_what_they_show(rows: list[SummaryRow], tmp_path: Path):
    png, svg, pdf = trade_off_plot(rows, tmp_path / "plots" / "gsm8k.v1")
    assert [png.name, svg.name, pdf.name] == [f"gsm8k.v1.{kind}" for kind in ("png", "svg", "pdf")]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    words = comments(svg)
    for expected in (
        "nano on gsm8k",
        "40 embedded items, batch size 1, block 4, rule per-token",
        "wall-clock speedup",
        "tokens per forward",
        "ar (baseline)",
        "block-ar",
        "greedy-confidence",
        "entropy",
        "self-speculative (verify window)",
        "Pareto front",
        "ar = 1×",
    ):
        assert expected in words


def test_each_threshold_is_written_once_per_panel_and_apart(
    rows: list[SummaryRow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    drawn: list[Figure] = []

    def draw(figure: Figure, path: Path, **_: object) -> None:
        drawn.append(figure)
        path.touch()

    monkeypatch.setattr(Figure, "savefig", draw)
    trade_off_plot(rows, tmp_path / "plot")
    for axes in drawn[0].axes:
        labels = [text for text in axes.texts if text.get_text() in THRESHOLDS]
        assert sorted(text.get_text() for text in labels) == sorted(THRESHOLDS * 2)
        boxes = [text.get_window_extent() for text in labels]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_same_rows_give_the_same_bytes(rows: list[SummaryRow], tmp_path: Path):
    first, second = (trade_off_plot(rows, tmp_path / name / "plot") for name in "ab")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_undefined_rows_are_named_not_dropped(rows: list[SummaryRow], tmp_path: Path):
    broken = replace(rows[1], accuracy=None, accuracy_lo=None, accuracy_hi=None)
    _, svg, _ = trade_off_plot([rows[0], broken, *rows[2:]], tmp_path / "plot")
    words = comments(svg)
    assert f"without accuracy: {broken.decoder}" in words
    assert "without a speedup" not in words


def test_nothing_defined_still_draws(rows: list[SummaryRow], tmp_path: Path):
    nothing = replace(rows[0], model="a$b$_{c", accuracy=None, speedup=None)
    assert all(path.exists() for path in trade_off_plot([nothing], tmp_path / "plot"))


def test_batch_sizes_are_told_apart_where_there_are_several(
    rows: list[SummaryRow], tmp_path: Path
):
    both = [*rows, *(replace(row, batch_size=8) for row in rows)]
    _, svg, _ = trade_off_plot(both, tmp_path / "plot")
    words = comments(svg)
    assert "40 embedded items, batch sizes 1, 8, block 4" in words
    for expected in ("ar (baseline), batch size 1", "ar (baseline), batch size 8", "block-ar, b"):
        assert expected in words
    _, svg, _ = trade_off_plot(rows, tmp_path / "one")
    assert ", batch size 1," in comments(svg)
    assert "(baseline), batch" not in comments(svg)


def test_settings_are_not_mixed(rows: list[SummaryRow], tmp_path: Path):
    with pytest.raises(ValueError, match="the rows span 2 settings"):
        trade_off_plot([rows[0], replace(rows[1], model="other")], tmp_path / "plot")
    with pytest.raises(ValueError, match="the rows span 0 settings"):
        trade_off_plot([], tmp_path / "plot")


def test_families_differ_by_more_than_the_threshold(rows: list[SummaryRow]):
    other = replace(rows[2], decoder=SPECS[2].replace("per-token", "cumulative"))
    found = {
        family.label: [tau(row) for row in family.rows]
        for family in families([*rows, other], shared_options([*rows, other]))
    }
    assert found["greedy-confidence (rule per-token)"] == ["0.6", "0.8", "0.9", "0.98"]
    assert found["greedy-confidence (rule cumulative)"] == ["0.98"]
    assert found["ar"] == [None]
    assert shared_options([*rows, other]) == {"block": "4"}


def test_an_option_at_its_default_tells_families_apart(rows: list[SummaryRow]):
    """Specs leave it out, so what two of three have is not shared."""
    options = ("rule=a", "rule=a,temperature=1", "rule=b,temperature=1")
    sampled = [replace(rows[2], decoder=f"entropy(tau=0.9,{each})") for each in options]
    assert shared_options(sampled) == {}
    assert shared_options(sampled[1:]) == {"temperature": "1"}


def test_specs_are_read_back():
    spec = parse_spec(SPECS[2])
    assert spec.name == "greedy-confidence"
    assert dict(spec.options) == {"tau": "0.98", "rule": "per-token", "block": "4"}
    assert parse_spec("my.package:Class").name == "my.package:Class"


@given(st.text())
def test_no_spec_breaks_a_label(text: str):
    assert isinstance(str(parse_spec(text)), str)


def test_a_label_avoids_markers_labels_and_the_edge():
    page = Box(0, 0, 100, 100)
    above, right, below = Box(45, 60, 55, 70), Box(60, 45, 70, 55), Box(45, 30, 55, 40)
    places = [above, right, below]
    assert best_place(places, page, [], []) == 0
    assert best_place(places, page, [Obstacle(50, 65, 1.0)], []) == 1
    assert best_place(places, page, [Obstacle(50, 65, 1.0)], [Box(65, 50, 80, 60)]) == 2
    assert best_place(places, Box(0, 0, 100, 50), [], []) == 2


def test_one_file_imports_matplotlib_and_the_package_does_without():
    files = [path.name for path in PACKAGE.glob("*.py") if "matplotlib" in imports(path)]
    assert files == ["drawing.py"]
    assert "pyplot" not in imports(PACKAGE / "drawing.py")
    code = (
        "import sys, results\n"
        "heavy = {'matplotlib', 'torch', 'sdlm', 'decoders', 'tasks', 'harness'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def imports(path: Path) -> str:
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if line.startswith(("import ", "from ")))


def test_drawing_changes_no_global_state(rows: list[SummaryRow], tmp_path: Path):
    before = matplotlib.rcParams.copy()
    trade_off_plot(rows[:3], tmp_path / "plot")
    assert matplotlib.rcParams.copy() == before
