"""lm-eval both ways: its tasks under our decoders, our models under its command line and API.

The oracle of every answer and likelihood is lm-eval's own Hugging Face model on the same weights.
"""

import csv
import json
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from decoders.generate import Request, generate
from decoders.trimming import Ending
from harness.answers import ending_of
from harness.lm_eval_model import SdlmLM
from harness.models import open_model
from sdlm.hf_config import read_config
from sdlm.layout import causal_layout
from sdlm.model import parameter_count
from sdlm.model_names import model_folder
from sdlm.tokenizer import train_tokenizer
from tasks import TaskOptions, resolve_task
from tests.harness.conftest import Children
from tests.harness.lm_eval_tasks import write_tasks
from tests.harness.tiny import (
    CONTEXT,
    TEXTS,
    VOCAB,
    harness,
    make_model,
    records,
    refused,
    summary,
)

LONG = " ".join(TEXTS[:40])
PAIRS = [
    ("Ann has 3 apples", " and buys 9 more"),
    ("Ann has 3 apples and ", "buys 9 more"),  # the space moves to the continuation
    ("", "Ann has 12 apples"),
    ("so she has 1 + 3 =", " 4"),
    (LONG, " 4"),  # longer than the context
]


@pytest.fixture(autouse=True)
def _offline(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("lm-eval-tasks"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that transformers can load as well, with one end token, as HFLM stops at one."""
    out = make_model(tmp_path_factory.mktemp("models") / "plain", seed=11, eos_token_ids=(2,))
    train_tokenizer(TEXTS, VOCAB, out)
    return out


@pytest.fixture(scope="module")
def hf(plain: Path) -> HFLM:
    # Its cache of logits mixes up two splits of the same text into context and continuation.
    return HFLM(
        pretrained=str(plain),
        device="cpu",
        dtype="float32",
        batch_size=2,
        max_length=CONTEXT,
        logits_cache=False,
    )


@pytest.fixture(scope="module")
def manager(folder: Path) -> TaskManager:
    return TaskManager(include_path=str(folder))


def requests(kind: Any, arguments: list[tuple[Any, ...]]) -> list[Instance]:
    return [Instance(kind, {}, each, 0, ("toy", 0, 1)) for each in arguments]


@pytest.mark.parametrize("batch_size", [1, 4])
def test_log_likelihoods_are_hugging_face_s(plain: Path, hf: HFLM, batch_size: int):
    ours = SdlmLM(str(plain), batch_size=batch_size).loglikelihood(
        requests("loglikelihood", PAIRS), disable_tqdm=True
    )
    theirs = hf.loglikelihood(requests("loglikelihood", PAIRS), disable_tqdm=True)
    for (mine, greedy), (other, other_greedy) in zip(ours, theirs, strict=True):
        assert mine == pytest.approx(other, rel=1e-4, abs=1e-4)
        assert greedy == other_greedy


@pytest.mark.parametrize("slots", [5, 256])
def test_logits_are_held_of_few_slots_at_once(
    plain: Path, monkeypatch: pytest.MonkeyPatch, slots: int
):
    """Against all logits at once. Lengths differ, and one continuation has no token."""
    monkeypatch.setattr("harness.lm_eval_model.HEAD_SLOTS", slots)
    model = SdlmLM(str(plain), batch_size=3)
    ids = model.tok_encode(LONG)
    pairs = [(ids[:7], ids[7:430]), (ids[:1], ids[1:9]), (ids[:4], []), (ids[:30], ids[30:31])]
    seen: list[int] = []
    head = model.loaded.model.head
    hook = head.register_forward_hook(lambda _, given, __: seen.append(given[0].shape[0]))
    scored = model._loglikelihood_tokens([(("", ""), *pair) for pair in pairs])
    hook.remove()
    assert max(seen) == slots
    assert sum(seen) == sum(len(said) for _, said in pairs)
    for (context, said), (total, greedy) in zip(pairs, scored, strict=True):
        row_1T = torch.tensor([[*context, *said]])
        layout = causal_layout(1, row_1T.shape[1], device=torch.device("cpu"))
        logits_TV = model.loaded.model(row_1T, torch.arange(row_1T.shape[1])[None], layout)[0]
        places = range(len(context) - 1, len(context) + len(said) - 1)
        expected = sum(
            float(logits_TV[t].double().log_softmax(-1)[token])
            for t, token in zip(places, said, strict=True)
        )
        assert total == pytest.approx(expected, rel=1e-5, abs=1e-5)
        likeliest = [int(logits_TV[t].argmax()) for t in places]
        assert greedy == (likeliest == said)


def test_log_likelihood_of_what_greedy_decoding_says_is_greedy(plain: Path):
    model = SdlmLM(str(plain))
    ids = model.tok_encode("Ann has 3 apples")
    request = Request(key="", ids=tuple(ids))
    (answer,) = generate(model.loaded.model, model.decoder, [request], Ending(budget=6))
    said = [*answer.ids]
    changed = [*said[:-1], (said[-1] + 1) % VOCAB]
    scored = model._loglikelihood_tokens([(("", ""), ids, said), (("", ""), ids, changed)])
    assert [greedy for _, greedy in scored] == [True, False]
    assert scored[0][0] > scored[1][0]


@pytest.mark.parametrize("max_length", [CONTEXT, 32])
def test_rolling_log_likelihoods_are_hugging_face_s(plain: Path, hf: HFLM, max_length: int):
    texts = [(LONG,), ("Ann has 3 apples",), ("A",), (TEXTS[7],)]
    short = HFLM(pretrained=hf.model, tokenizer=hf.tokenizer, max_length=max_length, batch_size=3)
    theirs = short.loglikelihood_rolling(requests("loglikelihood_rolling", texts), True)
    ours = SdlmLM(str(plain), batch_size=3, max_length=max_length).loglikelihood_rolling(
        requests("loglikelihood_rolling", texts), True
    )
    assert ours == pytest.approx([float(each) for each in theirs], rel=1e-4)


@pytest.mark.parametrize(
    ("decoder", "batch_size"),
    [("ar", 1), ("ar", 3), ("self-speculative(verify=causal)", 2)],
)
def test_answers_are_hugging_face_s(plain: Path, hf: HFLM, decoder: str, batch_size: int):
    settings = [
        {"until": ["Question:", "\n"], "max_gen_toks": 14, "do_sample": False},
        {"until": "apples", "max_gen_toks": 30},
        {"until": [], "max_gen_toks": 5},
    ]
    arguments = [(text, each) for text in (TEXTS[3], TEXTS[150], LONG) for each in settings]
    theirs = hf.generate_until(requests("generate_until", arguments), disable_tqdm=True)
    model = SdlmLM(str(plain), decoder, batch_size=batch_size)
    ours = model.generate_until(requests("generate_until", arguments), disable_tqdm=True)
    assert ours == theirs


def test_prompts_and_metrics_of_a_run_are_lm_eval_s(
    plain: Path, folder: Path, manager: TaskManager, tmp_path: Path, unplotted: None
):
    decoders = ("ar", "greedy-confidence(tau=0.6)")
    out = tmp_path / "run"
    result = harness(
        "run", "--model", plain, "--tasks", "lm_eval:toy_sums", "--include-path", folder,
        "--decoders", ",".join(decoders), "--limit", 0, "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    with (out / "tables" / "metrics.csv").open() as file:
        table = [*csv.DictReader(file)]
    specs = list(dict.fromkeys(row["decoder"] for row in table))
    for decoder, spec in zip(decoders, specs, strict=True):
        theirs = lm_eval.simple_evaluate(
            SdlmLM(str(plain), decoder), tasks=["toy_sums"], task_manager=manager,
            bootstrap_iters=0, log_samples=True,
        )  # fmt: skip
        assert theirs is not None
        mine = {key.item_id: record for key, record in records(out).items() if key.decoder == spec}
        assert len(mine) == 12
        for sample in theirs["samples"]["toy_sums"]:
            record = mine[f"lm_eval:toy_sums/{sample['doc_id']:05d}"]
            assert record.text == sample["resps"][0][0]
            name = f"exact_match,{sample['filter']}"
            assert (record.details or {})[name] == sample["exact_match"]
        for row in table:
            if row["decoder"] == spec:
                assert float(row["value"]) == theirs["results"]["toy_sums"][row["metric"]]
                assert row["items"] == "12"
    for row in summary(out):
        assert (row["source"], row["task"]) == ("lm_eval", "lm_eval:toy_sums")


@pytest.mark.parametrize("chat", [False, True])
def test_prompts_are_those_lm_eval_sends(
    plain: Path, folder: Path, manager: TaskManager, chat: bool
):
    sent: list[str] = []

    class Listener(SdlmLM):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            sent.extend(request.args[0] for request in requests)
            return [""] * len(requests)

    model = Listener(str(plain))
    lm_eval.simple_evaluate(
        model, tasks=["toy_sums"], task_manager=manager, apply_chat_template=chat,
        fewshot_as_multiturn=chat,
    )  # fmt: skip
    options = TaskOptions(include_path=folder, apply_chat_template=chat)
    items = resolve_task("lm_eval:toy_sums", options).items("lm_eval", None)
    assert len(sent) == 12
    for text, item in zip(sent, items, strict=True):
        turns = [{"role": turn.role, "content": turn.content} for turn in item.messages]
        assert text == (model.apply_chat_template(turns) if chat else item.prompt)
        assert text.count("Question:") == 3


def test_full_marks_come_from_the_first_filter(folder: Path):
    task = resolve_task("lm_eval:toy_sums", TaskOptions(include_path=folder))
    item = task.items("lm_eval", None)[4]
    right = task.score(item, "5 + 15 = 20\n#### 20", True)
    assert (right.correct, right.answer, right.extracted_by) == (True, "20", "filter")
    assert right.details == {"exact_match,strict": 1.0, "exact_match,flexible": 1.0}
    only_flexible = task.score(item, "it is 20", False)
    assert (only_flexible.correct, only_flexible.answer) == (False, None)
    assert (only_flexible.extracted_by, only_flexible.finished) == ("none", False)
    assert only_flexible.details == {"exact_match,strict": 0.0, "exact_match,flexible": 1.0}


def test_a_special_token_among_stop_strings_ends_as_a_token(plain: Path):
    loaded = open_model(
        str(plain), plain, dtype="auto", attention=None, device="cpu", need_tokenizer=True
    )
    assert loaded.tokenizer is not None
    start = loaded.tokenizer.get_vocab()["<|im_start|>"]
    ending = ending_of(loaded, budget=9, stop=["Question:", "<|im_start|>", "</s>"])
    assert ending.eos_token_ids == {2, start}
    assert ending.stop == ("Question:", "</s>")


def test_the_command_hands_over_without_network(
    children: Children, plain: Path, folder: Path, tmp_path: Path
):
    spec = "greedy-confidence(tau=0.9,rule=cumulative)"
    ended = children.run(
        "lm-eval", "--model", "sdlm", "--model_args", f"pretrained={plain},decoder={spec}",
        "--include_path", folder, "--tasks", "toy_sums,toy_choice,toy_rolling", "--limit", 4,
        "--batch_size", 2, "--output_path", tmp_path / "out",
    )  # fmt: skip
    assert ended.status == 0, ended.output
    assert children.attempts.read_text() == ""
    (path,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(path.read_text())
    assert set(found["results"]) == {"toy_sums", "toy_choice", "toy_rolling"}
    assert found["config"]["decoder"] == "greedy-confidence(tau=0.9,rule=cumulative,block=4)"


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("toy_sum", ["lm_eval:toy_sum'", "nearest is 'lm_eval:toy_sums'", "--include-path"]),
        ("toy_group", ["group of tasks"]),
        ("toy_choice", ["generates nothing", "multiple_choice", "harness lm-eval"]),
        ("toy_repeats", ["3 samples of each item"]),
        ("toy_unsafe", ["--unsafe-execution", "sandbox"]),
        ("toy_corpus", ["has no accuracy", "bleu", "harness lm-eval"]),
        ("toy_no_data", ["can't be loaded", "--include-path"]),
    ],
)
def test_tasks_that_cannot_be_run(
    plain: Path, folder: Path, tmp_path: Path, task: str, words: list[str]
):
    result = harness(
        "run", "--model", plain, "--tasks", f"lm_eval:{task}", "--include-path", folder,
        "--decoders", "ar", "--out", tmp_path / "out",
    )  # fmt: skip
    refused(result, *words)
    assert not (tmp_path / "out").exists()


def test_sampling_is_said_to_be_the_decoder_s_affair(folder: Path):
    task = resolve_task("lm_eval:toy_sampled", TaskOptions(include_path=folder))
    with pytest.warns(UserWarning, match=r"samples at temperature 0\.7 in lm-eval"):
        task.items("lm_eval", None)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"batch_size": "auto"}, "batch_size is 'auto'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"decoder": "nonsense"}, "'nonsense'"),
        ({"max_length": CONTEXT + 1}, "max_length"),
        ({"device": "abacus"}, "'abacus'"),
        ({"max_gen_toks": 0}, "max_gen_toks"),
        ({"max_length": "x"}, "max_length is 'x'"),
        ({"dtype": "fp16"}, "dtype is 'fp16'"),
        ({"max_batch_size": 4}, "max_batch_size"),
    ],
)
def test_wrong_model_arguments_are_named(plain: Path, changed: dict[str, Any], word: str):
    with pytest.raises(ValueError, match=word):
        SdlmLM(str(plain), **changed)


def test_a_sampling_task_needs_a_decoder_that_samples(plain: Path):
    settings = {"until": [], "max_gen_toks": 5, "do_sample": True, "temperature": 0.7}
    asked = requests("generate_until", [("Ann", settings)] * 3)
    with pytest.raises(ValueError, match=r"ar\(temperature=0\.7\)"):
        SdlmLM(str(plain)).generate_until(asked, disable_tqdm=True)
    sampled = SdlmLM(str(plain), "ar(temperature=0.7)").generate_until(asked, disable_tqdm=True)
    assert len(set(sampled)) > 1  # each repeat is drawn anew


def test_a_continuation_beyond_the_context_is_refused(plain: Path):
    """lm-eval's own model asserts; cut, it would be another text's likelihood."""
    asked = requests(
        "loglikelihood",
        [
            (
                "Ann",
                " has",
            ),
            ("Ann", LONG),
        ],
    )
    with pytest.raises(ValueError, match=f"the context is {CONTEXT}"):
        SdlmLM(str(plain)).loglikelihood(asked, disable_tqdm=True)


def test_a_budget_that_leaves_no_room_is_refused(plain: Path):
    asked = requests("generate_until", [("Ann", {"until": [], "max_gen_toks": CONTEXT})])
    with pytest.raises(ValueError, match="max_gen_toks=N"):
        SdlmLM(str(plain)).generate_until(asked, disable_tqdm=True)


def test_a_spec_s_commas_do_not_split_an_argument_string(plain: Path):
    spec = "greedy-confidence(tau=0.9,rule=cumulative)"
    made = SdlmLM.create_from_arg_string(f"pretrained={plain},decoder={spec},batch_size=3")
    assert made.spec == "greedy-confidence(tau=0.9,rule=cumulative,block=4)"
    assert made.batch_size == 3


def test_an_unknown_model_argument_is_named(plain: Path):
    with pytest.raises(ValueError, match="'decodr' is unknown; there are pretrained, decoder"):
        SdlmLM.create_from_arg_string(f"pretrained={plain},decodr=ar")


def test_a_decoder_that_samples_under_a_greedy_task_is_said(plain: Path):
    asked = requests("generate_until", [("Ann", {"until": [], "max_gen_toks": 2})])
    with pytest.warns(UserWarning, match=r"temperature 0\.0, ar\(temperature=0\.7\) at 0\.7"):
        SdlmLM(str(plain), "ar(temperature=0.7)").generate_until(asked, disable_tqdm=True)


def test_log_likelihoods_that_are_not_finite_are_an_error(plain: Path):
    model = SdlmLM(str(plain))
    with torch.no_grad():
        model.loaded.model.norm.weight[0] = float("nan")
    with pytest.raises(ValueError, match=r"log-likelihood is nan.*float32"):
        model.loglikelihood(requests("loglikelihood", PAIRS[:1]), disable_tqdm=True)


def test_a_model_laid_out_for_inference_has_all_its_parameters():
    info = SdlmLM("nano", dtype="bfloat16").get_model_info()
    assert info["model_num_parameters"] == parameter_count(read_config(model_folder("nano")))


def test_a_reference_of_one_s_own_is_no_row_of_lm_eval_s(folder: Path):
    line = json.dumps({"id": 1, "gold": "4", "text": "4"})
    result = harness(
        "score", "--task", "lm_eval:toy_sums", "--include-path", folder, "--answers", "-",
        stdin=line,
    )  # fmt: skip
    refused(result, "line 1", "has no item '1'")


def test_options_for_lm_eval_s_prompts_need_a_task_of_its(plain: Path, tmp_path: Path):
    options = ["--model", plain, "--tasks", "gsm8k", "--out", tmp_path / "out"]
    refused(harness("run", *options, "--apply-chat-template"), "--apply-chat-template", "lm_eval:")


def test_the_hash_of_a_configuration_is_the_same_in_every_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    task = resolve_task("lm_eval:toy_sums", TaskOptions(include_path=folder))
    hashes = {task.template_hash("lm_eval")}
    config = getattr(task, "_task").dump_config()  # noqa: B009
    for address in ("0x7f00aa", "0x7f00bb"):
        text = f"functools.partial(<function words at {address}>, 3)"
        changed = config | {"doc_to_text": text}
        monkeypatch.setattr(getattr(task, "_task"), "dump_config", changed.copy)  # noqa: B009
        hashes.add(task.template_hash("lm_eval"))
    assert len(hashes) == 2
