"""Small lm-eval tasks with local data, written into a folder for `--include-path`."""

import json
from pathlib import Path
from typing import Any

import yaml

SUMS: dict[str, Any] = {
    "output_type": "generate_until",
    "num_fewshot": 2,
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["Question:", "7 a"], "max_gen_toks": 12, "do_sample": False},
    "filter_list": [
        {
            "name": "strict",
            "filter": [
                {"function": "regex", "regex_pattern": "#### ([0-9]+)"},
                {"function": "take_first"},
            ],
        },
        {
            "name": "flexible",
            "filter": [
                {"function": "regex", "group_select": -1, "regex_pattern": "([0-9]+)"},
                {"function": "take_first"},
            ],
        },
    ],
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
CHOICE: dict[str, Any] = {
    "output_type": "multiple_choice",
    "doc_to_text": "{{question}}",
    "doc_to_choice": ["{{answer}}", "1", "9 apples"],
    "doc_to_target": 0,
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}
ROLLING: dict[str, Any] = {
    "output_type": "loglikelihood_rolling",
    "doc_to_text": "",
    "doc_to_target": "{{question}}",
    "metric_list": [
        {
            "metric": "bits_per_byte",
            "aggregation": "bits_per_byte",
            "higher_is_better": False,
        }
    ],
}


def write_tasks(folder: Path) -> Path:
    """`toy_sums`, `toy_choice`, `toy_rolling`, and tasks that are wrong to ask for."""
    for name, first in (("test", 1), ("train", 50)):
        rows = [
            {"question": f"Ann has {n} apples and {3 * n} more.", "answer": str(4 * n)}
            for n in range(first, first + 12)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    sampled = SUMS["generation_kwargs"] | {"do_sample": True, "temperature": 0.7}
    for name, config in {
        "toy_sums": SUMS,
        "toy_choice": CHOICE,
        "toy_rolling": ROLLING,
        "toy_repeats": SUMS | {"repeats": 3},
        "toy_unsafe": SUMS | {"unsafe_code": True},
        "toy_sampled": SUMS | {"generation_kwargs": sampled},
        "toy_corpus": SUMS
        | {"metric_list": [{"metric": "bleu", "aggregation": "bleu", "higher_is_better": True}]},
        "toy_no_data": SUMS | {"dataset_kwargs": {"data_files": {"test": "missing.jsonl"}}},
    }.items():
        data = {split: str(folder / f"{split}.jsonl") for split in ("test", "train")}
        whole = {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": data},
            "test_split": "test",
            "fewshot_split": "train",
        } | config
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(whole))
    group = {"group": "toy_group", "task": ["toy_sums", "toy_choice"]}
    (folder / "toy_group.yaml").write_text(yaml.safe_dump(group))
    return folder
