"""Options of the command line that have a type and a sentence of help, as typer reads them."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from harness.run_config import (
    Attention,
    Dtype,
    EngineName,
    Mismatch,
    Order,
    Quantize,
    SourceChoice,
)
from tasks import PromptProtocol

ALLOW_HELP = "names of settings in which the runs may differ; items: compare those in both"
BASELINE_HELP = "another model, decoded by ar in the same run: the autoregressive twin"
ADAPTER_HELP = "LoRA in peft's format, merged into the model: a folder or a hub id"
BLOCK_HELP = "window slots; default: the model's own"
CHAT_HELP = "lm-eval's prompts as chat turns"
COMPILE_HELP = "compile the decoding steps; compile time is no part of any speed"
DATA_HELP = "auto: embedded for nano, official for other models"
DTYPE_HELP = "auto: float32 for nano, the checkpoint's own for other models"
EMBEDDED_HELP = "generated items of each task; the first ones are always the same"
FIXED_HELP = "ids of every answer, whatever would end it; nothing is scored"
JUDGE_HELP = "the task that compares results with those of the data's answers"
LIMIT_HELP = "items of each task, drawn by --seed; 0: all"
MARKDOWN_HELP = "a file for a pull request's comment, or - for standard output"
MODEL_HELP = "nano, nano-ar, a checkpoint folder, or a Hugging Face hub id"
NOISY_HELP = "measure again, twice at most, what other programs disturbed"
ORDER_HELP = "which prompts of a chunk start first"
PARALLEL_HELP = "processes that share the model: one a GPU, or on a CPU"
RAY_HELP = "HOST:PORT of a running Ray cluster, or auto; default: a Ray of its own"
REPEATS_HELP = "times that each sample is measured; its time is their median"
SIZE_HELP = "rows decoded at once, or auto: as many as memory has room for; default: 1"
MISMATCH_HELP = "where the judge finds another result: the data's answer stays, or none does"
SIZES_HELP = "several batch sizes, such as 1,8,32: the curve"
STRICT_IDS_HELP = "changed ids fail even where equality is not promised, as in bfloat16"
REPORT_HELP = "folder to write to; default: the run's own, if it is one"
TASKS_HELP = "task names, separated by commas; lm_eval:NAME for lm-eval's"
TOLERANCE_HELP = "share of the speed that the machine's state may cost between two runs"
TRACES_HELP = "items of each task whose decoding is kept step by step; 0: none"
UNSAFE_HELP = "run generated programs even where no sandbox works"
WORKERS_HELP = "Ray workers; default: one a GPU, else one a core"

# What is decoded, and by which decoders.
Model = Annotated[str, Option(help=MODEL_HELP)]
BaselineModel = Annotated[str | None, Option(help=BASELINE_HELP)]
Adapter = Annotated[str | None, Option(help=ADAPTER_HELP)]
Tasks = Annotated[str, Option(help=TASKS_HELP)]
Decoders = Annotated[str, Option(help="all, or specs separated by commas: ar,entropy(tau=0.9)")]
Taus = Annotated[str, Option(help="thresholds for decoders that take one")]
Block = Annotated[int | None, Option(help=BLOCK_HELP)]
Limit = Annotated[int, Option(help=LIMIT_HELP)]
Seed = Annotated[int, Option(help="which items --limit draws")]
Data = Annotated[SourceChoice, Option(help=DATA_HELP)]
EmbeddedItems = Annotated[int, Option(help=EMBEDDED_HELP)]
DataDir = Annotated[Path | None, Option(help="folder of the official test sets")]
IncludePath = Annotated[Path | None, Option(help="folder of further lm-eval tasks")]
ChatTemplate = Annotated[bool, Option("--apply-chat-template", help=CHAT_HELP)]
Protocol = Annotated[PromptProtocol, Option(help="whose prompts ask official items")]
Unsafe = Annotated[bool, Option("--unsafe-execution", help=UNSAFE_HELP)]
TaskBudget = Annotated[int | None, Option(help="default: the task's own")]
FixedLength = Annotated[int | None, Option(help=FIXED_HELP)]
Repeats = Annotated[int, Option(help=REPEATS_HELP)]
RepeatNoisy = Annotated[bool, Option("--repeat-noisy", help=NOISY_HELP)]
Traces = Annotated[int, Option(help=TRACES_HELP)]
Budget = Annotated[int, Option(help="budget of an answer")]

# Of finished runs.
ReportedRuns = Annotated[list[Path], Argument(help="run folders")]
ReportFolder = Annotated[Path | None, Option("--out", help=REPORT_HELP)]

# Of answers that become training data.
Judge = Annotated[Literal["gsm8k", "math500", "mmlu"] | None, Option(help=JUDGE_HELP)]
OnMismatch = Annotated[Mismatch, Option(help=MISMATCH_HELP)]

# How.
BatchSize = Annotated[int, Option(help="rows decoded at once")]
AutoBatchSize = Annotated[str | None, Option("--batch-size", help=SIZE_HELP)]
BatchSizes = Annotated[str | None, Option(help=SIZES_HELP)]
PromptOrder = Annotated[Order, Option(help=ORDER_HELP)]
NumberType = Annotated[Dtype, Option(help=DTYPE_HELP)]
Attends = Annotated[Attention | None, Option(help="default: flex on CUDA, dense on CPU")]
Compile = Annotated[bool, Option("--compile", help=COMPILE_HELP)]
TensorParallel = Annotated[int, Option(help=PARALLEL_HELP)]
Quantized = Annotated[Quantize, Option(help="int8: weights alone, after loading")]

# By whom, and where to.
Engine = Annotated[EngineName, Option(help="this process, or Ray workers")]
Workers = Annotated[int | None, Option(help=WORKERS_HELP)]
RayAddress = Annotated[str | None, Option(help=RAY_HELP)]
RunFolder = Annotated[Path | None, Option(help="run folder; default: runs/TIME-MODEL")]
Resume = Annotated[bool, Option("--resume", help="go on with the run in --out")]
ResumeAnswers = Annotated[bool, Option("--resume", help="go on with OUT.answers")]
LinesOut = Annotated[str, Option(help="JSON lines, or - for standard output")]
RetryFailed = Annotated[
    bool, Option("--retry-failed", help="with --resume: do failed samples again")
]
MarkdownOut = Annotated[str | None, Option("--markdown", help=MARKDOWN_HELP)]
AsJson = Annotated[bool, Option("--json", help="print as JSON")]

# What of two runs is compared, and how strictly.
BaseRun = Annotated[Path, Argument(help="folder of the run to compare with")]
NewRun = Annotated[Path, Argument(help="folder of the run to judge")]
Tolerance = Annotated[float, Option(help=TOLERANCE_HELP)]
StrictIds = Annotated[bool, Option("--strict-ids", help=STRICT_IDS_HELP)]
AllowDifferent = Annotated[str, Option(help=ALLOW_HELP)]
