"""Judging programs against HumanEval+'s tests: run in the sandbox, compared out here.

The expected outputs are the reference solution's on the same inputs, run once per item in a
sandbox too. They are kept in this process; a program under test is told the inputs only.
A program that fails on a base input is started anew for the extra ones, so that base and extra
inputs are judged apart. A timeout is tried once more, and the verdict says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tasks.evalplus_rules import Expected, Rules, expect, is_right, load_rules
from tasks.sandbox import Sandbox
from tasks.sandbox_job import Ending, Job, Limits, SandboxError
from tasks.sandbox_values import Answer

Suite = Literal["base", "plus"]
SUITES: tuple[Suite, ...] = ("base", "plus")
REFERENCE_LIMITS = Limits(call_cpu_s=20.0, cpu_s=120.0, output_bytes=1 << 30)
MAX_CPU_S = 60.0
#: An equal output is told in hardly more bytes than the expected one; with many more, unread.
LONGER, SPARE_BYTES, SPARE_OUTPUT_BYTES = 8, 4096, 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One item of HumanEval+; `key` tells problems apart even where their ids are alike."""

    id: str
    key: str
    prompt: str
    entry_point: str
    canonical_solution: str
    base_input: list[list[Any]]
    plus_input: list[list[Any]]
    atol: float

    def inputs(self, suite: Suite) -> list[list[Any]]:
        """The inputs of a suite."""
        return self.base_input if suite == "base" else self.plus_input


class Verdict(NamedTuple):
    """What became of a program on one suite."""

    status: Literal["passed", "failed", "timeout"]
    reason: str
    retried: bool


class Verdicts(NamedTuple):
    """Both suites' verdicts; `base` are HumanEval's own inputs, `plus` the further ones."""

    base: Verdict
    plus: Verdict


PASSED = Verdict("passed", "", False)
NO_PROGRAM = Verdict("failed", "no program in the answer", False)
Reference = dict[Suite, list[Expected]]


class Judge:
    """A pool of workers that judge programs; one per core unless told otherwise."""

    def __init__(self, sandbox: Sandbox, workers: int | None = None) -> None:
        self._sandbox = sandbox
        self._rules: Rules = load_rules()
        workers = workers or len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="judge")
        self._references: dict[str, Future[Reference]] = {}

    def judge(self, work: Iterable[tuple[Problem, str | None]]) -> Iterator[Verdicts]:
        """The verdicts on programs, in their order; None, no program, fails without being run.

        Whoever stops asking, by an interrupt for one, stops the work that has not begun.
        """
        pending = [self._submit(problem, program) for problem, program in work]
        try:
            for verdicts in pending:
                yield verdicts.result()
        finally:
            for verdicts in pending:
                verdicts.cancel()
            waiting = [key for key, reference in self._references.items() if reference.cancel()]
            for key in waiting:
                del self._references[key]

    def _submit(self, problem: Problem, program: str | None) -> Future[Verdicts]:
        if program is None:
            nothing: Future[Verdicts] = Future()
            nothing.set_result(Verdicts(NO_PROGRAM, NO_PROGRAM))
            return nothing
        # A reference is queued before those that wait for it, so a full pool cannot lock up.
        if problem.key not in self._references:
            self._references[problem.key] = self._pool.submit(self._reference, problem)
        return self._pool.submit(self._judge, problem, program)

    def _judge(self, problem: Problem, program: str) -> Verdicts:
        """All inputs in one go, the base ones first, which is enough for a right program.

        What fails at a base input is started anew for the extra ones. What fails later is too: an
        extra input must not suffer from what the base ones left in the program's memory.
        """
        reference = self._references[problem.key].result()
        ending = self._check(problem, program, SUITES, reference)
        if ending.status == "done":
            return Verdicts(PASSED, PASSED)
        base = PASSED
        fails_base = ending.accepted < len(problem.base_input)
        if fails_base:
            base = self._judge_suite(problem, program, "base", reference, ending)
        if fails_base or ending.status == "failed":
            ending = self._check(problem, program, ("plus",), reference)
        return Verdicts(base, self._judge_suite(problem, program, "plus", reference, ending))

    def _judge_suite(
        self, problem: Problem, program: str, suite: Suite, reference: Reference, first: Ending
    ) -> Verdict:
        """The verdict after a first try, with another one if that was a timeout."""
        ending = first
        if first.status == "timeout":
            ending = self._check(problem, program, (suite,), reference)
        status = "passed" if ending.status == "done" else ending.status
        return Verdict(status, ending.reason, first.status == "timeout")

    def _check(
        self, problem: Problem, program: str, suites: tuple[Suite, ...], reference: Reference
    ) -> Ending:
        """Run a program on suites, up to its first wrong output."""
        inputs = [arguments for suite in suites for arguments in problem.inputs(suite)]
        expected = [wanted for suite in suites for wanted in reference[suite]]

        def accept(answer: Answer) -> str | None:
            if is_right(self._rules, inputs[answer.index], expected[answer.index], answer):
                return None
            return "wrong output"

        job = Job(
            program=program,
            entry_point=problem.entry_point,
            inputs=json.dumps(inputs),
            line_bytes=[LONGER * wanted.line_bytes + SPARE_BYTES for wanted in expected],
        )
        return self._run(job, self._limits(expected), accept)

    def _reference(self, problem: Problem) -> Reference:
        """The outputs of the reference solution, base and extra inputs in one run."""
        inputs = problem.base_input + problem.plus_input
        told: list[Expected] = []

        def accept(answer: Answer) -> None:
            first = answer.index in (0, len(problem.base_input))
            atol = problem.atol if first else told[-1].atol
            told.append(expect(self._rules, problem.entry_point, atol, answer))

        job = Job(
            program=problem.prompt + problem.canonical_solution,
            entry_point=problem.entry_point,
            inputs=json.dumps(inputs),
            line_bytes=[REFERENCE_LIMITS.output_bytes] * len(inputs),
        )
        ending = self._run(job, REFERENCE_LIMITS, accept)
        if ending.status != "done":
            raise RuntimeError(f"{problem.id}: the reference solution failed: {ending.reason}")
        place = len(problem.base_input)
        return {"base": told[:place], "plus": told[place:]}

    def _run(self, job: Job, limits: Limits, accept: Callable[[Answer], str | None]) -> Ending:
        """Run a job; a sandbox that does not start gets a second chance."""
        try:
            return self._sandbox.run(job, limits, accept)
        except SandboxError:
            return self._sandbox.run(job, limits, accept)

    def _limits(self, expected: list[Expected]) -> Limits:
        """evalplus's limits: a second for a call, or four times what the reference took."""
        calls_s = [
            max(self._rules.min_time_limit_s, self._rules.time_limit_factor * wanted.cpu_s)
            for wanted in expected
        ]
        most_s = max(calls_s, default=self._rules.min_time_limit_s)
        return Limits(
            call_cpu_s=most_s,
            cpu_s=max(most_s, min(MAX_CPU_S, sum(calls_s))) + 1,
            output_bytes=2 * sum(wanted.line_bytes for wanted in expected) + SPARE_OUTPUT_BYTES,
        )
