"""What the prompts of several tasks say, in one place. The protocol is the SDLM paper's.

Official items are asked under the generic system message, in the model's chat template, without
examples unless the task says so. Mathematical tasks ask for reasoning and a boxed answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from tasks.item import Message

SYSTEM = "You are a helpful assistant."
INSTRUCTION = (
    "Think through the problem one step at a time, and write your final answer inside \\boxed{}."
)


def boxed_prompt(question: str) -> tuple[Message, ...]:
    """A mathematical question under the system message, with the boxed-answer instruction."""
    return (
        Message(role="system", content=SYSTEM),
        Message(role="user", content=f"{question}\n{INSTRUCTION}"),
    )


def wording_hash(messages: Iterable[Message]) -> str:
    """The sha256 of chat turns."""
    wording = [f"{turn.role}: {turn.content}" for turn in messages]
    return hashlib.sha256("\n".join(wording).encode()).hexdigest()
