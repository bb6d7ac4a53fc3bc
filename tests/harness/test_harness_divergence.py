"""Where ids part from the reference's: the place, the margin there, and what rounding explains."""

import csv
from pathlib import Path

import pytest
import torch

from decoders.registry import build_decoder
from harness.divergence import margin_after, rounding
from tests.fakes import TINY_MASK, tiny_model
from tests.harness.conftest import Finished
from tests.harness.tiny import OUR_OWN_ITEMS, SPECS, harness, records, summary
from tests.oracles.agreement import NEAR_TIE
from tests.oracles.decoding import ReferenceDecoder

pytestmark = [pytest.mark.usefixtures("unplotted"), OUR_OWN_ITEMS]


@pytest.mark.parametrize("length", [1, 7, 40])
@pytest.mark.parametrize("spec", ["ar", "block-ar"])
def test_the_margin_is_the_oracle_s(spec: str, length: int):
    """In the view of the reference: a window's first slot, or the causal answer."""
    context = tuple((7 * n + 3) % TINY_MASK for n in range(length))
    decoder = build_decoder(spec, default_block=4, mask_token_id=TINY_MASK)
    oracle = ReferenceDecoder(tiny_model(2))
    choice = oracle.causal(context) if spec == "ar" else oracle.window(context, 4)[0]
    found = margin_after(tiny_model(2), decoder, context)
    assert found.margin == pytest.approx(choice.gap, abs=1e-4)
    assert found.bound == pytest.approx(
        rounding(torch.float32, choice.logits.abs().max().item()), rel=1e-3
    )


def test_the_bound_is_that_of_the_number_type():
    """In fp32 it is of the size that tests allow; bf16 has 8 bits, fp16 has 11."""
    assert NEAR_TIE / 4 < rounding(torch.float32, 10.0) < NEAR_TIE
    assert rounding(torch.bfloat16, 16.0) == pytest.approx(0.25, rel=0.01)
    assert rounding(torch.float16, 16.0) == pytest.approx(0.03125, rel=0.01)


def test_a_run_says_where_its_ids_part(finished: Finished):
    with (finished.folder / "tables" / "divergences.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    found = {(row["item_id"], row["decoder"]): row for row in rows}
    assert len(found) == len(rows)
    answers = {key[1:3]: record.ids or [] for key, record in records(finished.folder).items()}
    for (item, spec), ids in answers.items():
        reference = "ar" if spec == "ar" else "block-ar(block=4)"
        theirs = answers[item, reference]
        assert (ids != theirs) == ((item, spec) in found)
        if ids != theirs:
            row, place = found[item, spec], int(found[item, spec]["position"])
            assert row["reference"] == reference
            assert ids[:place] == theirs[:place]
            assert row["token"] == ("" if place == len(ids) else str(ids[place]))
            assert row["near_tie"] == str(float(row["margin"]) < float(row["bound"]))
    assert rows, "loose thresholds change answers"
    for row in summary(finished.folder):
        of_decoder = [each for each in rows if each["decoder"] == row["decoder"]]
        assert row["near_ties"] + row["real_divergences"] == len(of_decoder)
        assert row["agreement"] == 1 - len(of_decoder) / 4
    assert not [row for row in rows if row["decoder"] == SPECS[-1]], "which promises equality"


def test_a_decoder_that_breaks_costs_the_run_its_margins_only(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def short(*_: object) -> None:
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr("harness.running.find_divergences", short)
    options = ["--limit", 2, "--max-new-tokens", 4, "--decoders", "ar,block-ar"]
    result = harness("run", "--model", model, *options, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "no margins where ids differ: OutOfMemoryError: no room\n" in result.stderr
    assert [row["near_ties"] for row in summary(tmp_path / "run")] == [None, None]


def test_without_a_reference_nothing_is_said(model: Path, tmp_path: Path):
    options = ["--limit", 2, "--max-new-tokens", 4, "--decoders", "ar,entropy(tau=0.6)"]
    result = harness("run", "--model", model, *options, "--out", tmp_path / "run")
    assert result.exit_code == 0
    _, row = summary(tmp_path / "run")
    assert row["agreement"] is row["near_ties"] is row["real_divergences"] is None
    tables = tmp_path / "run" / "tables"
    assert not [*tables.glob("divergences.*")]
    # Nor is an earlier invocation's table left.
    (tables / "divergences.csv").write_text("old")
    again = harness("run", "--model", model, *options, "--out", tmp_path / "run", "--resume")
    assert again.exit_code == 0
    assert not [*tables.glob("divergences.*")]
