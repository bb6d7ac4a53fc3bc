"""`--protocol lm-eval`: our items and verdicts, lm-eval's prompts."""

from pathlib import Path

import pytest

from tasks import Item, TaskOptions, resolve_task
from tests.tasks.official_files import DATA, needs_official

LM_EVAL = TaskOptions(protocol="lm-eval")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def both(name: str) -> tuple[list[Item], list[Item]]:
    """The items in our words and in lm-eval's."""
    ours = resolve_task(name).items("official", DATA)
    theirs = resolve_task(name, LM_EVAL).items("official", DATA)
    assert [(item.id, item.gold, item.subject, item.level) for item in ours] == [
        (item.id, item.gold, item.subject, item.level) for item in theirs
    ]
    assert all(item.prompt and not item.messages for item in theirs)
    return ours, theirs


def prompt(item: Item) -> str:
    assert item.prompt is not None
    return item.prompt


@needs_official
def test_gsm8k_has_five_examples_of_the_training_set():
    ours, theirs = both("gsm8k")
    questions = {item.messages[-1].content.split("\n")[0] for item in ours}
    for item, other in zip(ours, theirs, strict=True):
        *examples, asked = prompt(other).split("Question: ")[1:]
        assert len(examples) == 5
        assert all("\n#### " in example for example in examples)
        assert not any(example.split("\nAnswer:")[0] in questions for example in examples)
        question = asked.removesuffix("\nAnswer:")
        assert item.messages[-1].content.startswith(question)
    assert len({prompt(item) for item in theirs}) == len(theirs)


@needs_official
def test_math_has_lm_eval_s_four_examples():
    ours, theirs = both("math500")
    for item, other in zip(ours, theirs, strict=True):
        *examples, asked = prompt(other).split("Problem:\n")[1:]
        assert len(examples) == 4
        assert item.messages[-1].content.startswith(asked.removesuffix("\n\nSolution:"))


@needs_official
def test_humaneval_is_the_bare_code():
    ours, theirs = both("humaneval_plus")
    for item, other in zip(ours, theirs, strict=True):
        assert item.messages[-1].content.endswith(prompt(other))
        assert "def " in prompt(other)


@needs_official
def test_a_fenced_answer_in_chat_is_not_cut_before_its_function():
    stop: dict[bool, tuple[str, ...]] = {}
    for chat in (False, True):
        options = TaskOptions(protocol="lm-eval", apply_chat_template=chat)
        task = resolve_task("humaneval_plus", options)
        item = task.items("official", DATA)[0]
        assert bool(item.messages) == (item.prompt is None) == chat
        stop[chat] = getattr(task, "stop_strings")["official"]  # noqa: B009
    assert "\ndef" in stop[False]
    assert stop[True] == ()


@needs_official
@pytest.mark.slow
def test_mmlu_has_five_examples_of_its_subject():
    ours, theirs = both("mmlu")
    for item, other in zip(ours, theirs, strict=True):
        assert item.subject.replace("_", " ") in prompt(other).split("\n")[0]
        assert prompt(other).count("\nAnswer:") == 6
        assert item.messages[-1].content.count(prompt(other).split("\n")[-6]) >= 1


@needs_official
def test_budget_stop_strings_and_verdicts():
    task = resolve_task("gsm8k", LM_EVAL)
    item = task.items("official", DATA)[0]
    assert task.max_new_tokens == {"official": 256}
    assert "Question:" in getattr(task, "stop_strings")["official"]  # noqa: B009
    assert task.score(item, f"so\n#### {item.gold}", True).correct
    assert not task.score(item, "#### 123456", True).correct
    assert task.template_hash("official") != resolve_task("gsm8k").template_hash("official")


def test_embedded_items_have_no_prompt_of_lm_eval_s():
    with pytest.raises(ValueError, match="--data official"):
        resolve_task("gsm8k", LM_EVAL).items("embedded", None)


def test_a_task_of_lm_eval_s_has_its_own_prompts_already(tmp_path: Path):
    options = TaskOptions(protocol="lm-eval", include_path=tmp_path)
    with pytest.raises(ValueError, match="lm_eval:gsm8k has prompts of its own"):
        resolve_task("lm_eval:gsm8k", options)
