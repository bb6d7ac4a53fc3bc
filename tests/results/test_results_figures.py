"""Print figures and tables: they say what the summaries say, and what is published is marked."""

import csv
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from results_fakes import REFERENCES, realistic_run

from results.ablation_figure import ablation_figure
from results.drawing import BLACK, INCHES, PRINT_STYLE, Figure, Width, save_figure, style
from results.families import block, parse_spec, tau
from results.figure_rows import Ablation, ablations, rows_of_runs
from results.figures import write_figures
from results.paper_tables import self_speculative_table, tokens_per_forward_table
from results.published import published_points
from results.summary import SummaryRow, summarise
from results.tables import write_summary
from results.trade_off_figure import trade_off_figure

WIDTHS: tuple[Width, ...] = ("one-column", "two-column")


@pytest.fixture(scope="module")
def rows() -> list[SummaryRow]:
    return summarise(realistic_run(items=30), REFERENCES, "ar")


@pytest.fixture(scope="module")
def both(rows: list[SummaryRow]) -> list[SummaryRow]:
    """Blocks of 4 and, of another model, 8."""
    eights = [
        replace(row, decoder=row.decoder.replace("block=4", "block=8"), model="nano8")
        for row in rows
    ]
    return [*rows, *eights]


def run_folder(folder: Path, rows: list[SummaryRow]) -> Path:
    folder.mkdir()
    manifest = {"schema": 1, "config": {"model": "nano"}, "invocations": []}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    write_summary(folder, rows)
    return folder


@pytest.fixture(scope="module", params=WIDTHS)
def figure(request: pytest.FixtureRequest, both: list[SummaryRow]) -> Figure:
    with style(PRINT_STYLE):
        return trade_off_figure(both, request.param)


def points(axes: object, published: bool) -> set[tuple[float, float]]:
    return {
        (float(x), float(y))
        for line in axes.get_lines()  # pyright: ignore
        if line.get_marker() != "None"
        and str(line.get_label()).startswith("published") == published
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    }


def test_a_panel_shows_the_rows_of_its_block_and_no_others(figure: Figure, both: list[SummaryRow]):
    panels = list(zip(figure.axes, (4, 4, 8, 8), ("tokens", "speed") * 2, strict=True))
    for axes, size, measure in panels:
        model = "nano" if size == 4 else "nano8"
        expected = {
            (row.tokens_per_forward if measure == "tokens" else row.speedup, row.accuracy)
            for row in both
            if row.model == model and block(row) in (size, None)
        }
        assert points(axes, published=False) == expected
        assert axes.get_title(loc="left") == f"D = {size}: {model}"
    assert figure.get_suptitle().endswith("batch size 1\nrule per-token, verify window")


def test_only_the_baseline_is_black(rows: list[SummaryRow]):
    with style(PRINT_STYLE):
        twin = replace(rows[0], decoder="ar(model=a)")
        drawn = trade_off_figure([*rows[:2], twin], "two-column")
    curves = [line for line in drawn.axes[0].get_lines() if line.get_marker() != "None"]
    black = {line.get_label() for line in curves if line.get_color() == BLACK}
    assert black == {"ar"}


def test_published_points_are_hollow_named_and_on_their_panel(figure: Figure):
    tokens_4, speed_4, tokens_8, speed_8 = figure.axes
    assert not points(speed_4, published=True)
    assert not points(speed_8, published=True)
    assert {(1.0, 0.858), (2.15, 0.846), (2.75, 0.845), (3.62, 0.851)} <= points(tokens_4, True)
    assert {(2.52, 0.833), (3.67, 0.832), (5.99, 0.836)} <= points(tokens_8, True)
    assert (2.52, 0.833) not in points(tokens_4, True)
    for axes in (tokens_4, tokens_8):
        for line in axes.get_lines():
            if str(line.get_label()).startswith("published"):
                assert line.get_markerfacecolor() == "white"
            elif line.get_marker() != "None":
                assert line.get_markerfacecolor() != "white"
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert "published, SDLM-3B, greedy-confidence" in said
    assert "published, SDLM-3B, entropy, read off" in said
    assert "not measured here" in legend.get_title().get_text()
    assert len(said) == len(set(said))


def test_labels_stand_apart_and_inside(figure: Figure, both: list[SummaryRow]):
    taus = {tau(row) for row in both} - {None}
    for axes in figure.axes:
        assert taus <= {text.get_text() for text in axes.texts}
        boxes: list[Bbox] = []
        for text in axes.texts:
            text.get_window_extent()  # puts it where it will be drawn
            # Without the line that leads to its point.
            boxes.append(Text.get_window_extent(text))
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    page = figure.bbox
    (legend,) = figure.legends
    extent = legend.get_window_extent()
    assert page.x0 <= extent.x0
    assert extent.x1 <= page.x1
    assert not any(extent.overlaps(axes.get_tightbbox()) for axes in figure.axes)


@pytest.mark.parametrize("width", WIDTHS)
def test_sizes_are_exact_and_files_the_same_twice(
    rows: list[SummaryRow], tmp_path: Path, width: Width
):
    with style(PRINT_STYLE):
        first, second = (
            save_figure(
                ablation_figure([Ablation("a", rows[:1])], width),
                tmp_path / name / "f",
                ("svg", "pdf", "png"),
            )
            for name in "ab"
        )
    assert [one.read_bytes() for one in first] == [other.read_bytes() for other in second]
    assert f'width="{INCHES[width] * 72:g}pt"' in first[0].read_text()
    assert f"/MediaBox [ 0 0 {INCHES[width] * 72:g} ".encode() in first[1].read_bytes()
    assert int.from_bytes(first[2].read_bytes()[16:20], "big") == round(INCHES[width] * 300)


def test_a_large_model_is_compared_with_the_large_one(rows: list[SummaryRow]):
    with style(PRINT_STYLE):
        drawn = trade_off_figure([replace(row, model="a/SDLM-32B-D4") for row in rows], WIDTHS[0])
    assert {(2.15, 0.924), (2.71, 0.923), (1.0, 0.932)} == points(drawn.axes[0], published=True)


def test_the_table_has_the_summary_s_numbers_and_marks_the_published(both: list[SummaryRow]):
    other = [replace(row, task="math500", accuracy=0.5) for row in both if row.model == "nano"]
    table = tokens_per_forward_table([*other, *both])
    assert table is not None
    cells = list(csv.DictReader(table.csv().splitlines()))
    measured = [line for line in cells if line["origin"] == "measured"]
    assert len(measured) == 20
    for line in measured:
        (row,) = (
            row
            for row in both
            if row.model == line["model"]
            and row.decoder.startswith(line["decoder"].split(" ")[0])
            and str(block(row) or "") == line["D"]
            and (tau(row) or "") == line["τ"]
        )
        assert float(line["gsm8k accuracy"]) == row.accuracy
        assert float(line["gsm8k tokens/forward"]) == row.tokens_per_forward
        assert line["math500 accuracy"] == ("0.5" if row.model == "nano" else "")
    assert {line["origin"] for line in cells if "SDLM" in line["model"]} == {"published"}
    assert {line["items"] for line in cells if line["origin"] != "measured"} == {"official"}
    assert (
        "| SDLM-3B | greedy-confidence | 4 | 0.98 | official | – | published | 84.6 (2.15) "
        in (table.markdown())
    )
    assert table.header[-3:] == ["gsm8k", "math500", "mean"]
    assert table.markdown().count("published, quoted |") == 4
    assert r"$\tau$" in table.latex()
    assert r"\midrule" in table.latex()
    assert "- measured decoders that take them: rule per-token.\n" in table.markdown()
    unscored = tokens_per_forward_table([replace(both[2], accuracy=None)])
    assert unscored is not None
    assert unscored.groups[0][0][-1] == f"– ({both[2].tokens_per_forward:.2f})"


def test_the_self_speculative_table(both: list[SummaryRow]):
    table = self_speculative_table(both)
    assert table is not None
    lines = list(table.groups)
    assert [line[1].split(" ")[0] for line in lines[0][:4]] == [
        *("ar", "greedy-confidence", "entropy", "self-speculative"),
    ]
    assert {line[3] for line in lines[0]} == {"–", "0.98"}
    shares = {(line[1], line[2]): line[-2] for line in lines[1]}
    assert shares["self-speculative", "4"] == "90 %"
    assert self_speculative_table(both[:3]) is None


def test_ablation_bars_are_the_rows_and_doubt_is_said(rows: list[SummaryRow]):
    tasks = [replace(row, task="humaneval_plus", source="official") for row in rows[2:3]]
    with style(PRINT_STYLE):
        drawn = ablation_figure([Ablation("a", rows[2:3]), Ablation("b", tasks)], "two-column")
    accuracy, tokens = drawn.axes
    assert [bar.get_height() for bar in accuracy.patches] == [rows[2].accuracy] * 2
    assert [bar.get_height() for bar in tokens.patches] == [rows[2].tokens_per_forward] * 2
    assert {y for _, y in points(accuracy, True)} == {0.858, 0.842, 0.598, 0.457}
    said = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert {"a", "b", "published, SDLM-3B, no shift (likely)"} <= said
    assert "published, SDLM-3B, which bar is not known" in said
    # Both have the same decoder, which the legend names; others are named run by run.
    title = drawn.legends[0].get_title().get_text()
    assert title.startswith(f"{parse_spec(rows[2].decoder)}\nlines: 95 %")
    with style(PRINT_STYLE):
        drawn = ablation_figure([Ablation("a", rows[:1]), Ablation("b", rows[2:3])], "two-column")
    title = drawn.legends[0].get_title().get_text()
    assert title.startswith(f"a: ar\nb: {parse_spec(rows[2].decoder)}\n")


def test_an_ablation_is_its_run_s_highest_threshold(rows: list[SummaryRow], tmp_path: Path):
    run_folder(tmp_path / "run", [*rows, *(replace(row, batch_size=8) for row in rows)])
    ((name, (row,)),) = ablations([f"no shift={tmp_path / 'run'}"])
    assert (name, row.batch_size) == ("no shift", 1)
    assert row.decoder.startswith("greedy-confidence(tau=0.98")


def test_what_cannot_be_drawn_is_said_and_the_rest_is(rows: list[SummaryRow], tmp_path: Path):
    unscored = replace(rows[3], accuracy=None)
    official = [replace(rows[0], source="official"), *rows[:3], unscored]
    written = write_figures(official, [], tmp_path / "out")
    assert len(written.not_drawn) == 3
    assert (
        "trade-off of gsm8k (official items, batch size 1): no decoder with"
        in (written.not_drawn[0])
    )
    assert written.not_drawn[1] == (
        "trade-off of gsm8k (embedded items, batch size 1), without accuracy: "
        f"{unscored.decoder} of nano"
    )
    assert "table self-speculative" in written.not_drawn[2]
    assert sorted({path.name.split(".")[0] for path in written.paths}) == [
        *("tokens-per-forward", "trade-off-gsm8k-embedded-one-column"),
        "trade-off-gsm8k-embedded-two-column",
    ]
    assert all(path.stat().st_size for path in written.paths)


def test_bars_that_an_ablation_lacks_are_said(rows: list[SummaryRow], tmp_path: Path):
    elsewhere = replace(rows[2], task="math500")
    unscored = replace(elsewhere, accuracy=None)
    both = [Ablation("a", [rows[2], elsewhere]), Ablation("b", [unscored])]
    assert write_figures([], both, tmp_path / "out").not_drawn == [
        "bar of b on gsm8k (embedded items): its run has no such items",
        "bar of b on math500 (embedded items): no accuracy",
    ]


def test_bad_runs_are_refused(rows: list[SummaryRow], tmp_path: Path):
    one, two = (run_folder(tmp_path / name, rows[:2]) for name in ("one", "two"))
    with pytest.raises(ValueError, match="one is given twice"):
        rows_of_runs([one, one])
    with pytest.raises(ValueError, match=r"one and .*two both have ar of nano on gsm8k"):
        rows_of_runs([one, two])
    with pytest.raises(ValueError, match="is not a run folder: it has no manifest"):
        rows_of_runs([tmp_path])
    (one / "summary.json").unlink()
    with pytest.raises(ValueError, match="does not exist: a run writes it when it ends"):
        rows_of_runs([one])
    for wish in ("no-run", "=run", f"a={tmp_path / 'none'}"):
        with pytest.raises(ValueError, match=r"NAME=RUN|not a run folder"):
            ablations([wish])
    with pytest.raises(ValueError, match="'a' is given twice"):
        ablations([f"a={two}", f"a={two}"])
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"--out .*file can't be written"):
        write_figures(rows, [], tmp_path / "file")


def test_published_points_are_whole():
    found = published_points()
    assert len(found) == 173
    assert all(0 < point.accuracy < 1 for point in found)
    assert all(point.note for point in found if point.certainty != "printed")
