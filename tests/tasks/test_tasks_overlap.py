"""Runs of words that training data and test items share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks import Item, Message
from tasks.hub import Unavailable
from tasks.overlap import WORDING_FROM, Overlaps, main, runs
from tasks.published import MATH500_TEST, HubCopy
from tests.tasks.official_files import DATA, math_rows, needs_official, write


def item(number: int, text: str) -> Item:
    turns = (Message(role="user", content="an example"), Message(role="user", content=text))
    return Item(id=f"t/{number}", messages=turns, gold="")


def found(texts: list[str], training: str, ngram: int = 4) -> list[str]:
    items = {"t": [item(number, text) for number, text in enumerate(texts)]}
    return [hit.item_id for hit in Overlaps(items, ngram).hits(1, [training])]


def test_case_and_punctuation_make_no_difference():
    texts = ["Ann has 3 red apples, and one pear.", "Bob runs to the big old mill at noon."]
    assert found(texts, "Look: ann HAS 3 (red) apples") == ["t/0"]
    assert found(texts, "the big old barn; 3 red apples grow") == []
    assert found(texts, "has 3 red apples to the big old mill") == ["t/0", "t/1"]
    assert found(texts, "an example") == []


def test_a_short_item_counts_where_it_stands_whole():
    assert found(["Find two primes."], "Please find two primes now") == ["t/0"]
    assert found(["Find two primes."], "find two") == []


def test_wording_that_many_items_share_is_no_overlap():
    texts = [f"Give the answer in a box: what is {n}?" for n in range(WORDING_FROM + 1)]
    assert found(texts, "give the answer in a box") == []
    few = [f"t/{n}" for n in range(WORDING_FROM)]
    assert found(texts[:-1], "give the answer in a box") == few
    assert found(texts, "a box what is 7") == ["t/7"]


def test_a_short_question_in_long_wording_is_found_without_it():
    texts = [f"Think. What is {n} times {n}? Put it in a box." for n in range(WORDING_FROM + 1)]
    assert found(texts, "so what is 7 times 7, then", ngram=9) == ["t/7"]
    assert found(texts, "think what is 99 times 9 put it in a box", ngram=9) == []


WORDS = st.lists(st.sampled_from("abc"), min_size=0, max_size=12)


@given(WORDS, WORDS, st.integers(2, 5))
def test_hits_are_common_runs(ours: list[str], theirs: list[str], ngram: int):
    def windows(words: list[str], size: int) -> set[str]:
        text = " " + " ".join(words) + " "
        return {
            " ".join(words[i : i + size])
            for i in range(len(words))
            if len(words[i : i + size]) == size and f" {' '.join(words[i : i + size])} " in text
        }

    size = min(ngram, len(theirs))
    common = windows(ours, size) & windows(theirs, size) if size else set()
    assert bool(found([" ".join(theirs)], " ".join(ours), ngram)) == bool(common)


def test_runs_have_the_words_asked_for():
    assert runs(["a", "b", "c", "d"], 3) == {("a", "b", "c"), ("b", "c", "d")}
    assert runs(["a", "b"], 3) == {("a", "b")}
    assert runs([], 3) == set()
    with pytest.raises(ValueError, match="a run has 1 words; it must have at least 2"):
        Overlaps({}, 1)


def test_items_that_share_a_run_are_all_named():
    text = "Ann has 3 red apples, and one pear."
    assert found([text, "Bob runs.", text], "ann has 3 red apples") == ["t/0", "t/2"]
    twins = {"t": [item(1, text)], "u": [item(1, text)]}
    hits = Overlaps(twins, 4).hits(1, ["ann has 3 red apples"])
    assert [hit.task for hit in hits] == ["t", "u"]


@pytest.fixture
def training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of training data, where no data folder is set."""
    monkeypatch.delenv("SDLM_DATA_DIR", raising=False)
    data = tmp_path / "train.jsonl"
    data.write_text(json.dumps({"prompt": "Say:", "response": "when x = 77 + 1"}) + "\n")
    return str(data)


@pytest.mark.filterwarnings("ignore:.*not the published rows")
@pytest.mark.parametrize("from_hub", [False, True])
def test_sets_without_data_are_left_out_and_named(
    training: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    from_hub: bool,
):
    path = write(tmp_path / "math500" / "test.jsonl", math_rows())

    def fetch(copy: HubCopy) -> Path:
        if copy != MATH500_TEST.hub:
            raise Unavailable("it is not cached")
        return path

    monkeypatch.setattr("tasks.sources.fetch", fetch)
    assert main(["--data", training, *([] if from_hub else ["--data-dir", str(tmp_path)])]) == 1
    *left_out, count, hit = capsys.readouterr().out.splitlines()
    for name, line in zip(("gsm8k", "mmlu", "humaneval_plus"), left_out, strict=True):
        assert line.startswith(f"{name} is left out: official data ")
        assert "not found" in line
    assert count.startswith("math500: 2 of 500 items share")
    assert hit == "  line 1, math500/test/0077: 77"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no test set to compare with; give its folder as --data-dir"),
        (["--tasks", "math500,gsm8k"], "gsm8k/test.jsonl (or .gz) not found"),
        (["--tasks", "gsm8"], "unknown 'gsm8': choose from gsm8k, math500"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*not the published rows")
def test_without_the_data_asked_for_there_is_an_error(
    training: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
):
    if options:
        write(tmp_path / "math500" / "test.jsonl", math_rows())
    with pytest.raises(SystemExit) as ended:
        main(["--data", training, "--data-dir", str(tmp_path), *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*not the published rows")
def test_faulty_data_is_an_error_and_not_left_out(
    training: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path / "math500" / "test.jsonl", math_rows())
    write(tmp_path / "gsm8k" / "test.jsonl", [])
    with pytest.raises(SystemExit):
        main(["--data", training, "--data-dir", str(tmp_path)])
    assert "expected 1,319 items, got 0" in capsys.readouterr().err


@needs_official
def test_a_comparison_of_texts_needs_no_sandbox(
    training: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PATH", "/nowhere")
    options = ["--tasks", "humaneval_plus", "--data-dir", str(DATA)]
    assert main(["--data", training, *options]) == 0
    assert capsys.readouterr().out.startswith("humaneval_plus: 0 of 164 items")


@needs_official
def test_planted_test_items_are_found_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    stolen = json.loads((DATA / "gsm8k" / "test.jsonl").read_text().splitlines()[7])["question"]
    math = json.loads((DATA / "math500" / "test.jsonl").read_text().splitlines()[3])["problem"]
    rows = [
        {"messages": [{"role": "user", "content": "Count to nine by threes, then stop."}]},
        {"messages": [{"role": "user", "content": "Say it: " + stolen.upper()}]},
        {"prompt": "p", "response": "As they ask: " + math},
    ]
    data, clean = tmp_path / "data.jsonl", tmp_path / "clean.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["--data", str(data), "--data-dir", str(DATA)]) == 1
    told = capsys.readouterr().out
    assert "gsm8k: 1 of 1,319 items share a run of words with 1 of 3 samples" in told
    assert "math500: 1 of 500 items share a run of words with 1 of 3 samples" in told
    assert "humaneval_plus: 0 of 164 items" in told
    assert "mmlu: 0 of 14,042 items" in told
    arguments = ["--data", str(data), "--data-dir", str(DATA), "--clean-out", str(clean)]
    assert main(arguments) == 0
    assert clean.read_text() == json.dumps(rows[0]) + "\n"


@needs_official
@pytest.mark.parametrize("line", ["x", "[]", '{"prompt": 1, "response": "a"}', '{"messages": 3}'])
def test_a_faulty_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str):
    data = tmp_path / "data.jsonl"
    data.write_text('{"prompt": "a", "response": "b"}\n' + line + "\n")
    with pytest.raises(SystemExit):
        main(["--data", str(data), "--data-dir", str(DATA)])
    assert f"{data}:2: expected" in capsys.readouterr().err
