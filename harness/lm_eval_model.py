# lm_eval has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false
# pyright: reportUnknownArgumentType=false
"""This project's models and decoders as a model of lm-eval, where its name is `sdlm`.

    python -m harness lm-eval --model sdlm --tasks gsm8k \\
        --model_args pretrained=DIR,decoder="greedy-confidence(tau=0.9)"

Answers come from the decoder, batched. Likelihoods come from causal forwards without windows,
which is what an SDLM's slot 0 is trained on, so they don't depend on the decoder. The class serves
lm-eval's Python API as well: `lm_eval.simple_evaluate(model=SdlmLM(pretrained=...), ...)`.

Shape suffixes: B rows, T slots, N slots whose logits are wanted, C channels, V vocabulary.
"""

import inspect
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self, cast, get_args

import torch
from lm_eval.__main__ import cli_evaluate
from lm_eval._cli.utils import key_val_to_dict
from lm_eval.api.instance import Instance
from lm_eval.api.model import TemplateLM
from lm_eval.api.registry import register_model
from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window
from tqdm import tqdm

from decoders.generate import Request, generate
from decoders.trimming import Ending
from harness.answers import ending_of, text_of
from harness.asking import check_least
from harness.models import default_device, open_model
from harness.planning import build_decoders
from harness.run_config import Attention, Dtype
from sdlm.layout import causal_layout
from sdlm.merging import find_model
from sdlm.model import parameter_count
from sdlm.model_names import with_adapter
from sdlm.tokenizer import chat_text, text_ids

#: What lm-eval takes for a task that names no budget of its own.
MAX_GEN_TOKS = 256
#: Slots whose logits are held at once; all of a long text's may take tens of GB.
HEAD_SLOTS = 256


@register_model("sdlm")
class SdlmLM(TemplateLM):
    """A model folder, hub id or packaged model under one decoder.

    pretrained, adapter: as `--model` and `--adapter` of `harness run`. decoder: its spec; `block`
    as there.
    batch_size: rows decoded, or scored, at once. max_length: context to use, at most the model's.
    Raises ValueError for whatever `harness run` would refuse.
    """

    def __init__(
        self,
        pretrained: str = "nano",
        decoder: str = "ar",
        *,
        adapter: str | None = None,
        block: int | None = None,
        batch_size: int | str = 1,
        max_batch_size: int | None = None,
        dtype: Dtype = "auto",
        attention: Attention | None = None,
        device: str | None = None,
        max_length: int | None = None,
        max_gen_toks: int = MAX_GEN_TOKS,
    ) -> None:
        super().__init__()
        if not str(batch_size).isdecimal():
            raise ValueError(f"batch_size is {batch_size!r}; give a number: none is found for you")
        if max_batch_size is not None:
            raise ValueError(f"max_batch_size is {max_batch_size}; give batch_size alone")
        # What a command line gives has no type yet.
        numbers: dict[str, object] = {
            "block": block,
            "max_length": max_length,
            "max_gen_toks": max_gen_toks,
        }
        for name, value in numbers.items():
            if not isinstance(value, int | None):
                raise ValueError(f"{name} is {value!r}; it must be a whole number")
        if dtype not in get_args(Dtype):
            raise ValueError(f"dtype is {dtype!r}; it must be one of {', '.join(get_args(Dtype))}")
        self.batch_size = int(batch_size)
        check_least("batch_size", self.batch_size, 1)
        check_least("max_gen_toks", max_gen_toks, 1)
        pretrained = with_adapter(pretrained, adapter)
        folder = find_model(pretrained)
        decoders = build_decoders([decoder], folder, block)
        ((self.spec, self.decoder),) = decoders.items()
        self.loaded = open_model(
            pretrained,
            folder,
            dtype=dtype,
            attention=attention,
            device=_device(device),
            need_tokenizer=True,
        )
        assert self.loaded.tokenizer is not None, "asked for"
        self.tokenizer = self.loaded.tokenizer
        if self.tokenizer.eos_token_id is None:
            raise ValueError(
                f"the tokenizer of {pretrained} names no end token, which lm-eval needs"
            )
        self._device = self.loaded.model.device
        self.max_gen_toks = max_gen_toks
        context = self.loaded.model.config.max_context
        self.max_length = context if max_length is None else max_length
        if not 2 <= self.max_length <= context:
            raise ValueError(f"max_length is {max_length}; it lies in 2...{context}, the context")

    @classmethod
    def create_from_arg_string(
        cls, arg_string: str, additional_config: dict[str, Any] | None = None
    ) -> Self:
        """As lm-eval's, but for commas within a decoder's spec, which separate nothing."""
        return cls.create_from_arg_obj(key_val_to_dict(arg_string), additional_config)

    @classmethod
    def create_from_arg_obj(
        cls, arg_dict: dict[str, Any], additional_config: dict[str, Any] | None = None
    ) -> Self:
        """As lm-eval's; ValueError names an argument that there is not."""
        known = inspect.signature(cls).parameters
        if unknown := sorted(arg_dict.keys() - known.keys()):
            raise ValueError(
                f"model argument {unknown[0]!r} is unknown; there are {', '.join(known)}"
            )
        return super().create_from_arg_obj(arg_dict, additional_config)

    @property
    def eot_token_id(self) -> int:
        """The token that ends a text, and stands for an empty context where there is no other."""
        return cast("int", self.tokenizer.eos_token_id)

    @property
    def prefix_token_id(self) -> int:
        """What a text without context is conditioned on."""
        begin = self.tokenizer.bos_token_id
        return self.eot_token_id if begin is None else cast("int", begin)

    @property
    def tokenizer_name(self) -> str:
        """Names the tokenizer in lm-eval's request caches."""
        return str(self.loaded.folder).replace("/", "__")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """The prompt of a conversation; without generation prompt its last turn stays open."""
        return chat_text(self.tokenizer, chat_history, open_turn=not add_generation_prompt)

    def get_model_info(self) -> dict[str, Any]:
        """What lm-eval notes about the model in its results."""
        return {
            "model_name": self.loaded.name,
            "decoder": self.spec,
            "model_num_parameters": parameter_count(self.loaded.model.config),
            "model_dtype": str(self.loaded.model.dtype),
        }

    def tok_encode(
        self, string: str, add_special_tokens: bool | None = None, **kwargs: object
    ) -> list[int]:
        """Ids of a text. None: the tokenizer's own special tokens, unless they are there."""
        if add_special_tokens is None:
            begins = string.startswith(cast("str", self.tokenizer.decode([self.prefix_token_id])))
            add_special_tokens = not begins
        return text_ids(self.tokenizer, string, special=add_special_tokens)

    def generate_until(
        self, requests: Sequence[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        """The answers to `(context, generation settings)`, in the order of the requests.

        A context that leaves no room for the budget loses its beginning, with a warning.
        """
        groups: dict[tuple[tuple[str, ...], int], list[int]] = {}
        for number, request in enumerate(requests):
            groups.setdefault(self._settings(request.arguments[1]), []).append(number)
        texts: list[str] = [""] * len(requests)
        with tqdm(total=len(requests), desc=self.spec, disable=disable_tqdm) as progress:
            for (stop, budget), numbers in groups.items():
                ending = ending_of(self.loaded, budget=budget, stop=stop)
                for number, text in self._answers(requests, numbers, ending):
                    texts[number] = text
                    self.cache_hook.add_partial("generate_until", requests[number].args, text)
                    progress.update()
        return texts

    def loglikelihood_rolling(
        self, requests: Sequence[Instance], disable_tqdm: bool = False
    ) -> list[float]:
        """The log-likelihood of whole texts, each token with as much context as the model has."""
        windows: list[tuple[tuple[str, str], list[int], list[int]]] = []
        owners: list[int] = []
        for number, request in enumerate(requests):
            for window in get_rolling_token_windows(
                token_list=self.tok_encode(request.arguments[0]),
                prefix_token=self.prefix_token_id,
                max_seq_len=self.max_length,
                context_len=1,
            ):
                context, predicted = make_disjoint_window(window)
                windows.append((("", ""), context, predicted))
                owners.append(number)
        totals = [0.0] * len(requests)
        scored = self._loglikelihood_tokens(windows, disable_tqdm=disable_tqdm)
        for owner, (log_likelihood, _) in zip(owners, scored, strict=True):
            totals[owner] += log_likelihood
        for request, total in zip(requests, totals, strict=True):
            self.cache_hook.add_partial("loglikelihood_rolling", request.args, total)
        return totals

    @torch.inference_mode()
    def _loglikelihood_tokens(
        self,
        requests: list[tuple[tuple[str, str], list[int], list[int]]],
        disable_tqdm: bool = False,
        **kwargs: object,
    ) -> list[tuple[float, bool]]:
        """For `(texts, context ids, continuation ids)`: the continuation's log-likelihood, and
        whether it is what greedy decoding would say. Context that doesn't fit is cut in front."""
        if (longest := max((len(said) for _, _, said in requests), default=0)) > self.max_length:
            raise ValueError(
                f"a continuation to be scored has {longest} tokens; the context is"
                f" {self.max_length}, and cut off it would be another text"
            )
        rows = [
            (context + continuation)[-(self.max_length + 1) :]
            for _, context, continuation in requests
        ]
        results: list[tuple[float, bool]] = [(0.0, True)] * len(rows)
        # Longest first: rows of a batch hardly differ, and memory runs out at once or never.
        order = sorted(range(len(rows)), key=lambda number: -len(rows[number]))
        with tqdm(total=len(rows), desc="log-likelihoods", disable=disable_tqdm) as progress:
            for first in range(0, len(order), self.batch_size):
                numbers = order[first : first + self.batch_size]
                scored = self._scores(
                    [rows[number] for number in numbers],
                    [len(requests[number][2]) for number in numbers],
                )
                for number, (total, greedy) in zip(numbers, scored, strict=True):
                    texts = requests[number][0]
                    if not math.isfinite(total):
                        raise ValueError(
                            f"a log-likelihood is {total}; the weights overflow in"
                            f" {self.loaded.model.dtype}: try dtype=float32"
                        )
                    results[number] = (total, greedy)
                    if texts != ("", ""):
                        self.cache_hook.add_partial("loglikelihood", texts, results[number])
                    progress.update()
        return results

    def _scores(self, rows: list[list[int]], counts: list[int]) -> list[tuple[float, bool]]:
        """For each row the log-likelihood of its last `count` tokens, and whether each of them is
        the likeliest."""
        starts = [len(row) - count for row, count in zip(rows, counts, strict=True)]
        said = [token for row, start in zip(rows, starts, strict=True) for token in row[start:]]
        target_N = torch.tensor(said, dtype=torch.int64, device=self._device)
        x_BTC = self._hidden([row[:-1] for row in rows])
        # Slot t predicts token t + 1.
        parts = zip(x_BTC, starts, counts, strict=True)
        x_NC = torch.cat([x_TC[start - 1 : start - 1 + count] for x_TC, start, count in parts])
        log_p_N = torch.empty(len(target_N), device=self._device)
        likeliest_N = torch.empty(len(target_N), dtype=torch.bool, device=self._device)
        for first in range(0, len(target_N), HEAD_SLOTS):
            part = slice(first, first + HEAD_SLOTS)
            logits_NV = self.loaded.model.head(x_NC[part]).float()
            log_p_NV = logits_NV.log_softmax(-1)
            log_p_N[part] = log_p_NV.gather(1, target_N[part, None])[:, 0]
            likeliest_N[part] = logits_NV.argmax(-1) == target_N[part]
        return [
            (float(log_p_T.sum(dtype=torch.float64)), bool(likeliest_T.all()))
            for log_p_T, likeliest_T in zip(
                log_p_N.split(counts), likeliest_N.split(counts), strict=True
            )
        ]

    def _hidden(self, rows: list[list[int]]) -> torch.Tensor:
        """Final hidden states [B, T, C] of causal rows, padded behind, where nothing looks."""
        width = max(len(row) for row in rows)
        padded = [row + [0] * (width - len(row)) for row in rows]
        ids_BT = torch.tensor(padded, device=self._device)
        positions_BT = torch.arange(width, device=self._device).expand(len(rows), -1)
        layout = causal_layout(len(rows), width, device=self._device)
        return self.loaded.model.hidden(ids_BT, positions_BT, layout)

    def _settings(self, generation: dict[str, Any]) -> tuple[tuple[str, ...], int]:
        """Stop strings and budget of a request's generation settings."""
        settings: dict[str, Any] = dict(normalize_gen_kwargs(generation, self.max_gen_toks))
        temperature = settings.get("temperature") or 0.0
        if settings["do_sample"] and self.decoder.samples_with is None:
            raise ValueError(
                f"the task samples (temperature {temperature}) and {self.spec} is greedy; give the"
                f" decoder a temperature, such as ar(temperature={temperature or 1.0}), or ask for"
                " --gen_kwargs do_sample=False"
            )
        ours = getattr(self.decoder, "temperature", 0.0)
        if ours != (temperature if settings["do_sample"] else 0.0):
            warnings.warn(
                f"the task decodes at temperature {temperature}, {self.spec} at {ours}; the"
                " decoder's counts",
                stacklevel=2,
            )
        stop = [text for text in handle_stop_sequences(settings["until"], eos=None) if text]
        return tuple(stop), settings["max_gen_toks"]

    def _answers(
        self, requests: Sequence[Instance], numbers: list[int], ending: Ending
    ) -> Iterator[tuple[int, str]]:
        room = self.max_length - ending.budget
        if room < 1:
            raise ValueError(
                f"max_gen_toks is {ending.budget}; it must be below the context of"
                f" {self.max_length}: give --gen_kwargs max_gen_toks=N"
            )
        prompts: list[Request] = []
        cut = 0
        for number in numbers:
            ids = self.tok_encode(requests[number].arguments[0]) or [self.prefix_token_id]
            cut += len(ids) > room
            prompts.append(Request(key=str(number), ids=tuple(ids[-room:])))
        if cut:
            print(f"{cut} prompts are cut to their last {room} tokens", file=sys.stderr)
        # Longest first, for the same reasons as above.
        prompts.sort(key=lambda prompt: -len(prompt.ids))
        for answer in generate(
            self.loaded.model, self.decoder, prompts, ending, batch_size=self.batch_size
        ):
            yield int(answer.key), text_of(self.loaded, answer)


def run_lm_eval(arguments: list[str]) -> None:
    """lm-eval's own command line, to which this module's import has made `sdlm` known."""
    sys.argv = ["lm-eval", *arguments]
    cli_evaluate()


def _device(name: str | None) -> str:
    """lm-eval's command line says cuda:0 where its user said nothing, machines without one
    included."""
    if name is None or (name.startswith("cuda") and not torch.cuda.is_available()):
        return default_device()
    try:
        return str(torch.device(name))
    except RuntimeError:
        raise ValueError(f"device is {name!r}; give cpu, cuda or cuda:N") from None
