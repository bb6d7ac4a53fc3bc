"""Clauses and endings that many stories share: sharing out, packing, selling, comparing."""

from __future__ import annotations

from tasks.embedded.story import Calc, Move, fact, move

THINGS = "{items}"
HAS = (
    "[{S} [now has|has|then has|ends up with] @ {items}|the [total|new total] is @ {items}|"
    "[there are|that makes] @ {items}[| in all| altogether| in total]]"
)
LEFT = (
    "[{S} [has|still has|now has] @ {items} left|{S} [is left with|still has] @ {items}|[there "
    "are|that leaves] @ {items}|@ {items} [are left|remain|are still there]]"
)
COUNT = "[there are|now there are|that makes] @ {items}[| in all| altogether| in total| there]"
REMAIN = "[there are|that leaves] @ {items}|@ {items} [are left|remain]"
SUM = "[the [sum|total] [is|comes to]|that [is|comes to|adds up to]|it comes to] @"

OWES = (
    "[{S} [pays|spends|has spent]|the bill [is|comes to]|the [total|cost] is] @[| so far| in all]"
)
OWNS = "[{S} [now has|has|then has|ends up with] @|the savings are [now |]@|that makes @]"
KEEPS = "[{S} [has|still has|is left with] @[| left]|@ is left|that leaves @]"
EARNS = "[{S} [earns|makes|gets|is paid]|the pay [is|comes to]|that is] @"
AHEAD = "[there are @ {items} [left|to go]|that leaves @ {items}]"
NOW = "how many {items} are [there|in the {place}] [now|in the end|at the end]"
GATHER = "how many {items} [are there|does {S} have] [now|in the end|at the end]"


def share(verbs: str = "shared|divided|split", who: str = "") -> Move:
    """The running quantity is shared among several people."""
    people = who or "friends|children|cousins|classmates|neighbors"
    return move(
        "share",
        "a:div",
        f"{{S}} [{verbs}] [them|the {{items}}|all of the {{items}}] [equally|evenly] "
        f"[among|between] {{a}} [{people}]",
        Calc(
            "/",
            "p",
            "a",
            "[each [of them|person|one] [gets|receives|is given|got]|everyone [gets|receives]|"
            "the share of each is] @ {items}",
            THINGS,
        ),
        ask=(
            "how many {items} [did each of them [get|receive]|did everyone [get|receive]|were "
            "there for each person|went to each person]"
        ),
    )


def pack(verbs: str = "packed|put|placed|sorted", box: str = "box") -> Move:
    """Containers of equal size: how many are filled."""
    boxes = "{" + box + ":s}"
    return move(
        "pack",
        "a:div",
        f"{{S}} [{verbs}] [them|the {{items}}|all of the {{items}}] [into|in] {boxes} "
        "[of {a}|of {a} each|that hold {a} each|with room for {a}|with {a} in each]",
        Calc(
            "/",
            "p",
            "a",
            f"[{{S}} [fills|needs|uses|has]|this [fills|takes]|there are] @ {boxes}",
            boxes,
        ),
        ask=f"how many {boxes} [did {{S}} [fill|use|need]|were [filled|used|needed]|were there]",
    )


def spread(verbs: str = "packed|put|placed|sorted", box: str = "box") -> Move:
    """A number of containers: how much is in each."""
    each, boxes = "{" + box + "}", "{" + box + ":s}"
    return move(
        "spread",
        "a:div",
        f"{{S}} [{verbs}] [them|the {{items}}|all of the {{items}}] into {{a}} {boxes} "
        "[|evenly|equally|with the same number in each|so that all of them held the same number]",
        Calc(
            "/",
            "p",
            "a",
            f"[each {each} [holds|has|gets|contains]|one {each} holds|every {each} has] @ "
            f"{{items}}",
            THINGS,
        ),
        ask=f"how many {{items}} [are|were] [in each {each}|there in each {each}|there per {each}|"
        f"in every {each}|in one {each}]",
    )


def sell(hi: str = "2-9") -> Move:
    """Everything left is sold at one price."""
    return move(
        "sell",
        f"a:{hi}",
        "{S} sold [them|the {items}|all of them|all of the {items}] for <a> [each|apiece|a "
        "piece|per {item}]",
        Calc(
            "*",
            "p",
            "a",
            "[{S} [earns|makes|gets|takes in|receives]|the [sale|money] comes to|the total is] "
            "@[| in total| in all]",
            "$",
        ),
        ask=(
            "how [much money|much|many dollars] did {S} [make|earn|get|receive][| in "
            "all| from the sale]"
        ),
    )


def times() -> Move:
    """Somebody else has several times as many."""
    return fact(
        "times",
        "a:k",
        "{G} has {a:x} as many {items} as {N}[| now has| does]",
        Calc("*", "p", "a", "{G} [has|must have|owns] @ {items}", THINGS),
        ask="how many {items} [does {G} have|are {G}'s|belong to {G}]",
    )


def fewer() -> Move:
    """Somebody else has fewer."""
    return fact(
        "fewer",
        "a:part",
        "{G} has {a} fewer {items} than {N}[| now has| does]",
        Calc("-", "p", "a", "{G} [has|must have|owns|has only] @ {items}", THINGS),
        ask="how many {items} [does {G} have|are {G}'s|belong to {G}]",
    )


def half() -> Move:
    """Somebody else has half as many."""
    return fact(
        "half-as-many",
        "",
        "{G} has [|only |exactly ]half as many {items} [as {N}|as {N} has|as {N} now has]",
        Calc("/", "p", "2", "{G} [has|must have|owns|has only] @ {items}", THINGS),
        ask="how many {items} [does {G} have|are {G}'s|belong to {G}]",
    )


def together(word: str = "more") -> Move:
    """Somebody else has more (or fewer), and both are added up."""
    sign, kind = ("+", "5-60") if word == "more" else ("-", "part")
    return fact(
        "both-" + word,
        f"a:{kind}",
        f"{{G}} has {{a}} {word} {{items}} than {{N}}[| now has| does]",
        Calc(sign, "p", "a", "{G} [has|must have|owns] @ {items}", THINGS),
        Calc(
            "+",
            "p",
            "r1",
            "[together|both together|in all|between them] they have @ {items}",
            THINGS,
        ),
        ask=(
            "how many {items} do {N} and {G} have [together|altogether|in total|in all|between "
            "them|combined]"
        ),
    )


def together_times() -> Move:
    """Somebody else has several times as many, and both are added up."""
    return fact(
        "both-times",
        "a:k",
        "{G} has {a:x} as many {items} as {N}[| now has| does]",
        Calc("*", "p", "a", "{G} [has|must have|owns] @ {items}", THINGS),
        Calc(
            "+",
            "p",
            "r1",
            "[together|both together|in all|between them] they have @ {items}",
            THINGS,
        ),
        ask=(
            "how many {items} do {N} and {G} have [together|altogether|in total|in all|between "
            "them|combined]"
        ),
    )


def goal(text: str, ask: str, clause: str, unit: str = THINGS, kind: str = "over") -> Move:
    """How much is missing to reach a number above the running quantity."""
    return fact("goal", f"a:{kind}", text, Calc("-", "a", "p", clause, unit), ask=ask)


def daily(did: str) -> tuple[Calc, ...]:
    """A product of days and a daily amount."""
    return (Calc("*", "a", "b", f"[{{S}} {did}|that is|this makes] @ {{items}}", THINGS),)


def summed(did: str) -> tuple[Calc, ...]:
    """A given amount on top of the running one."""
    return (Calc("+", "p", "a", running_total(did), THINGS),)


def running_total(did: str) -> str:
    """The clause that states the new total of what somebody did."""
    return (
        f"[{{S}} has [now |]{did} @ {{items}}[| in all]|the [total|sum] is @ {{items}}|"
        "that [is|makes] @ {items}[| so far| in all| altogether]]"
    )


def more_days(did: str, past: str) -> tuple[Calc, ...]:
    """A product on top of the running amount."""
    return (
        Calc(
            "*",
            "a",
            "b",
            f"[in those days {{S}} {past}|those days add|that adds] @ {{items}}",
            THINGS,
        ),
        Calc("+", "p", "r1", running_total(did), THINGS),
    )


def product(clause: str) -> Calc:
    """`a * b` things."""
    return Calc("*", "a", "b", clause, THINGS)


COMPARE = (times(), fewer(), half(), together(), together("fewer"), together_times())
