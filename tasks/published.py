"""The published test sets: which files, how many rows, which hash, where a copy can be fetched.

A hash is the sha256 of the rows' contents, each row as JSON with sorted keys and a line feed after
it, so that compression, key order and white space do not change it. A copy on the Hugging Face
hub is pinned by the full hash of a commit, which fixes its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HubCopy:
    """A file of a dataset repository at one commit."""

    repo: str
    revision: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialFile:
    """One file of a test set. `name` is its place in the data folder; `.gz` may be added.

    `hub` is None where no repository holds the same rows: then only a data folder provides them.
    """

    name: str
    count: int
    sha256: str
    hub: HubCopy | None


MMLU_REPO = "cais/mmlu"
MMLU_REVISION = "c30699e8356da336a370243923dbaf21066bb9fe"

GSM8K_TEST = OfficialFile(
    name="gsm8k/test.jsonl",
    count=1319,
    sha256="524c11ab4ee19ae27e71a10fff523a583dbba0a714e6be0ff2518668c0071daa",
    hub=HubCopy(
        repo="openai/gsm8k",
        revision="e53f048856ff4f594e959d75785d2c2d37b678ee",
        path="main/test-00000-of-00001.parquet",
    ),
)
#: Examples for lm-eval's prompt come from here; no item does.
GSM8K_TRAIN = OfficialFile(
    name="gsm8k/train.jsonl",
    count=7473,
    sha256="fced0849c018610984e1493088b43d38ac54c27c1cf387658e947cc40c54248b",
    hub=HubCopy(
        repo="openai/gsm8k",
        revision="e53f048856ff4f594e959d75785d2c2d37b678ee",
        path="main/train-00000-of-00001.parquet",
    ),
)
MATH500_TEST = OfficialFile(
    name="math500/test.jsonl",
    count=500,
    sha256="7c8b08d0eb47803ec052265ceb2f1746adc9f18462be067e3129fecef77fd2e2",
    hub=HubCopy(
        repo="HuggingFaceH4/MATH-500",
        revision="6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be",
        path="test.jsonl",
    ),
)
MMLU_TEST = OfficialFile(
    name="mmlu/test.jsonl",
    count=14042,
    sha256="62ac6ce976950d1dfdbd09cc8c924ae143c16d510d3e444c6cf18f476b885830",
    hub=HubCopy(repo=MMLU_REPO, revision=MMLU_REVISION, path="all/test-00000-of-00001.parquet"),
)
MMLU_DEV = OfficialFile(
    name="mmlu/dev.jsonl",
    count=285,
    sha256="65fb97a966d22bcfe1e554f454a58dba9f3fdb1ee6998563507c1cc4fd4b9a0f",
    hub=HubCopy(repo=MMLU_REPO, revision=MMLU_REVISION, path="all/dev-00000-of-00001.parquet"),
)
#: The hub's evalplus/humanevalplus has one `test` program an item, and no base and plus inputs.
HUMANEVAL_PLUS = OfficialFile(
    name="humaneval_plus/HumanEvalPlus.jsonl",
    count=164,
    sha256="9940113765f726d6d11a096698662984e750c9b7a4e7a4070f102a9dc3ef61dd",
    hub=None,
)

#: The files behind each task's official items.
OFFICIAL: dict[str, tuple[OfficialFile, ...]] = {
    "gsm8k": (GSM8K_TEST,),
    "math500": (MATH500_TEST,),
    "mmlu": (MMLU_TEST, MMLU_DEV),
    "humaneval_plus": (HUMANEVAL_PLUS,),
}
#: Further files that lm-eval's prompts for a task take examples from.
LM_EVAL_EXAMPLES: dict[str, tuple[OfficialFile, ...]] = {"gsm8k": (GSM8K_TRAIN,)}
