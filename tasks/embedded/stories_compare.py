"""Stories that compare people, days or things: each fact is about the one named before."""

from __future__ import annotations

from tasks.embedded.endings import THINGS
from tasks.embedded.story import Calc, Family, Move, fact


def comparisons(
    verb: str, noun: str, thing: str, more: str, fewer: str, many: str
) -> tuple[Move, ...]:
    """`verb` joins a person with an amount; `thing` is the unit, `many` the words of as … as."""
    says = (
        f"[{{P}} {verb} @{noun}|{{P}} must have @{noun}]"
        if verb == "has"
        else f"{{P}} {verb} @{noun}"
    )
    return (
        fact(
            "more",
            "a:3-60",
            f"{{P}} {verb} {{a}} {more} than {{Q}}",
            Calc("+", "p", "a", says, thing),
        ),
        fact(
            "fewer",
            "a:part",
            f"{{P}} {verb} {{a}} {fewer} than {{Q}}",
            Calc("-", "p", "a", says, thing),
        ),
        fact(
            "times",
            "a:k",
            f"{{P}} {verb} {{a:x}} as {many} as {{Q}}",
            Calc("*", "p", "a", says, thing),
        ),
        fact(
            "half",
            "",
            f"{{P}} {verb} [half as {many} as {{Q}}|only half as {many} as {{Q}}]",
            Calc("/", "p", "2", says, thing),
        ),
    )


def totals(ask: str, clause: str, thing: str) -> tuple[Move, ...]:
    """Sums of the first two or three amounts, and the gap between first and last."""
    return (
        fact("total2", "", "", Calc("+", "v0", "v1", clause, thing), ask=ask, need=2),
        fact(
            "total3",
            "",
            "",
            Calc(
                "+",
                "v0",
                "v1",
                "{P0} and {P1} together [reach|come to|make] @",
                thing,
            ),
            Calc("+", "r1", "v2", clause, thing),
            ask=ask,
            need=3,
        ),
    )


def gap(kind: str, need: int, ask: str, clause: str, thing: str) -> Move:
    """How much more (or less) the last has than the first."""
    last = f"v{need - 1}"
    x, y = (last, "v0") if kind == "more" else ("v0", last)
    ask = ask.replace("{P}", f"{{P{need - 1}}}")
    return fact(
        f"{kind}{need}",
        "",
        "",
        Calc("-", x, y, clause.replace("{P}", f"{{P{need - 1}}}"), thing),
        ask=ask,
        need=need,
    )


def gaps(ask: str, clause: str, thing: str) -> tuple[Move, ...]:
    """Gaps for stories of two and of three people."""
    return tuple(
        gap(kind, need, ask.replace("MORE", word), clause.replace("MORE", word), thing)
        for kind, word in (("more", "more"), ("less", "fewer"))
        for need in (2, 3)
    )


PEOPLE = Family(
    "people",
    "marble, book, stamp, pencil, sticker, ball, fish, apple, game, shell, card, hat, plant, "
    "toy, pen",
    "how many {items} does {P} have",
    openings=(
        fact("has", "a:10-90", "{P} [has|owns] {a} {items}"),
        fact(
            "boxes",
            "a:3-9 b:4-15",
            "{P} has {a} [boxes|bags] [of {b} {items} each|with {b} {items} in each]",
            Calc("*", "a", "b", "{P} has @ {items}", THINGS),
        ),
        fact(
            "colors",
            "a:8-60 b:8-60",
            "{P} has {a} [big|old|white] {items} and {b} [small|new|black] [ones|{items}]",
            Calc("+", "a", "b", "{P} has @ {items}", THINGS),
        ),
    ),
    moves=comparisons("has", " {items}", THINGS, "more {items}", "fewer {items}", "many {items}"),
    endings=(
        *totals(
            "how many {items} do [they|these people|all of them] have [together|altogether|in "
            "total|in all|combined]",
            "[together|in all|altogether] they have @ {items}",
            THINGS,
        ),
        *gaps(
            "how many MORE {items} does {P} have than {P0}",
            "{P} has @ MORE {items} than {P0}",
            THINGS,
        ),
    ),
    static=True,
    noise=(fact("noise-other", "c:5-60", "{G} has {c} {other:s}"),),
)

DAYS = Family(
    "counting",
    "page, mile, lap, coin, email, ticket, cup, letter, photo, sandwich, flower, newspaper",
    "how many {items} did {P} {do}",
    openings=(
        fact("first", "a:10-90", "{P} {did} {a} {items}"),
        fact(
            "daily",
            "a:3-9 b:4-20",
            "{P} {did} {b} {items} [a day for {a} days|on each of {a} days|every day for {a} "
            "days]",
            Calc("*", "a", "b", "{P} {did} @ {items}", THINGS),
        ),
        fact(
            "two",
            "a:8-60 b:8-60",
            "{P} {did} {a} {items} [in the morning and {b} in the evening|on Monday and {b} on "
            "Tuesday|last week and {b} this week]",
            Calc("+", "a", "b", "{P} {did} @ {items}", THINGS),
        ),
    ),
    moves=comparisons(
        "{did}", " {items}", THINGS, "more {items}", "fewer {items}", "many {items}"
    ),
    endings=(
        *totals(
            "how many {items} did they {do} [together|altogether|in total|in all]",
            "[together|in all|altogether] they {did} @ {items}",
            THINGS,
        ),
        *gaps(
            "how many MORE {items} did {P} {do} than {P0}",
            "{P} {did} @ MORE {items} than {P0}",
            THINGS,
        ),
    ),
    static=True,
    slots={
        "verb": "count/counted, collect/collected, record/recorded, report/reported, list/listed"
    },
    noise=(fact("noise-age", "c:8-30", "{G} is {c} years old"),),
)

AGES = Family(
    "ages",
    "year",
    "how old is {P}",
    openings=(
        fact("is", "a:6-30", "{P} is {a}[| years old| now]"),
        fact(
            "future",
            "a:3-12 b:over",
            "in {a} years {P} will be {b}[| years old]",
            Calc("-", "b", "a", "{P} is @ years old", "years"),
        ),
        fact(
            "past",
            "a:3-12 b:8-25",
            "{a} years ago {P} was {b}[| years old]",
            Calc("+", "b", "a", "{P} is @ years old", "years"),
        ),
    ),
    moves=(
        fact(
            "older",
            "a:2-25",
            "{P} is {a} years older than {Q}",
            Calc("+", "p", "a", "{P} is @ years old", "years"),
        ),
        fact(
            "younger",
            "a:2-20",
            "{P} is {a} years younger than {Q}",
            Calc("-", "p", "a", "{P} is @ years old", "years"),
        ),
        fact(
            "times",
            "a:k",
            "{P} is {a:x} as old as {Q}",
            Calc("*", "p", "a", "{P} is @ years old", "years"),
        ),
        fact(
            "half",
            "",
            "{P} is [half as old as {Q}|half the age of {Q}]",
            Calc("/", "p", "2", "{P} is @ years old", "years"),
        ),
    ),
    endings=(
        *totals(
            "[what is the sum of their ages|what do their ages add up to|what is the total of "
            "their ages]",
            "their ages [add up to|sum to|make] @",
            "years",
        ),
        *(
            gap(
                kind,
                need,
                f"how many years {word} is {{P}} than {{P0}}",
                f"{{P}} is @ years {word} than {{P0}}",
                "years",
            )
            for kind, word in (("more", "older"), ("less", "younger"))
            for need in (2, 3)
        ),
        fact(
            "future-end",
            "a:2-15",
            "",
            Calc("+", "p", "a", "in {a:n} years {L} will be @", "years"),
            ask="how old will {L} be in {a} years",
        ),
    ),
    hi=85,
    static=True,
    noise=(fact("noise-street", "c:3-60", "they live at number {c} in the same street"),),
)

SIZES = Family(
    "sizes",
    "tower, tree, bridge, fence, wall, tunnel, hedge, pole",
    "how many meters does the {P} {item} measure",
    openings=(
        fact("is", "a:10-90", "the {P} {item} [measures {a} meters|has a size of {a} meters]"),
        fact(
            "parts",
            "a:3-9 b:4-12",
            "the {P} {item} [is made of|consists of] {a} parts of {b} meters each",
            Calc("*", "a", "b", "the {P} {item} measures @ meters", "meters"),
        ),
    ),
    moves=(
        fact(
            "more",
            "a:3-50",
            "the {P} {item} [measures {a} meters more|is larger by {a} meters] than the {Q} "
            "{item}",
            Calc("+", "p", "a", "the {P} {item} measures @ meters", "meters"),
        ),
        fact(
            "less",
            "a:part",
            "the {P} {item} [measures {a} meters less|is smaller by {a} meters] than the {Q} "
            "{item}",
            Calc("-", "p", "a", "the {P} {item} measures @ meters", "meters"),
        ),
        fact(
            "times",
            "a:k",
            "the {P} {item} [measures {a:x} as much|is {a:x} as large] as the {Q} {item}",
            Calc("*", "p", "a", "the {P} {item} measures @ meters", "meters"),
        ),
        fact(
            "half",
            "",
            "the {P} {item} [measures half as much|is half as large] as the {Q} {item}",
            Calc("/", "p", "2", "the {P} {item} measures @ meters", "meters"),
        ),
    ),
    endings=(
        *totals(
            "how many meters do they measure [together|altogether|in total]",
            "together they measure @ meters",
            "meters",
        ),
        gap(
            "more",
            2,
            "by how many meters is the {P} {item} larger than the {P0} {item}",
            "the difference is @ meters",
            "meters",
        ),
        gap(
            "less",
            2,
            "by how many meters is the {P} {item} smaller than the {P0} {item}",
            "the difference is @ meters",
            "meters",
        ),
        fact(
            "paint",
            "a:2-6",
            "painting one meter of the {L} {item} takes {a} minutes",
            Calc("*", "p", "a", "[this takes|the painting takes|that is] @ minutes", "minutes"),
            ask="how many minutes does it take to paint the {L} {item}",
        ),
    ),
    static=True,
    slots={"persons": "red, blue, green, white, old, new, brown, gray, yellow"},
    noise=(fact("noise-year", "c:20-90", "the {P0} {item} is {c} years old"),),
)

RACE = Family(
    "teams",
    "point, goal, medal, vote, star, ribbon, win",
    "how many {items} does the {P} team have",
    openings=(
        fact("has", "a:10-90", "the {P} team has {a} {items}"),
        fact(
            "rounds",
            "a:3-9 b:4-20",
            "the {P} team [won|got|earned] {b} {items} in each of {a} [rounds|events|weeks]",
            Calc("*", "a", "b", "the {P} team has @ {items}", THINGS),
        ),
        fact(
            "two",
            "a:8-60 b:8-60",
            "the {P} team got {a} {items} [in the first half and {b} in the second|on the first "
            "day and {b} on the second]",
            Calc("+", "a", "b", "the {P} team has @ {items}", THINGS),
        ),
    ),
    moves=(
        fact(
            "more",
            "a:3-60",
            "the {P} team [has|got] {a} more {items} than the {Q} team",
            Calc("+", "p", "a", "the {P} team has @ {items}", THINGS),
        ),
        fact(
            "fewer",
            "a:part",
            "the {P} team [has|got] {a} fewer {items} than the {Q} team",
            Calc("-", "p", "a", "the {P} team has @ {items}", THINGS),
        ),
        fact(
            "times",
            "a:k",
            "the {P} team [has|got] {a:x} as many {items} as the {Q} team",
            Calc("*", "p", "a", "the {P} team has @ {items}", THINGS),
        ),
        fact(
            "half",
            "",
            "the {P} team [has|got] half as many {items} as the {Q} team",
            Calc("/", "p", "2", "the {P} team has @ {items}", THINGS),
        ),
    ),
    endings=(
        *totals(
            "how many {items} do the teams have [together|altogether|in total|in all]",
            "[together|in all] the teams have @ {items}",
            THINGS,
        ),
        *gaps(
            "how many MORE {items} does the {P} team have than the {P0} team",
            "the {P} team has @ MORE {items}",
            THINGS,
        ),
    ),
    static=True,
    slots={"persons": "red, blue, green, white, orange, black, gold, silver, yellow"},
    noise=(fact("noise-fans", "c:20-95", "{c} fans are watching"),),
)

FAMILIES = (PEOPLE, DAYS, AGES, SIZES, RACE)
