"""Stories about people who come and go: a hall, a bus."""

from __future__ import annotations

from tasks.embedded.endings import COUNT, NOW, REMAIN, THINGS, goal, product
from tasks.embedded.story import Calc, Family, fact, move

CLASS = Family(
    "class",
    "student, child, camper, dancer, singer, player, visitor, volunteer",
    NOW,
    openings=(
        move(
            "rows",
            "a:3-9 b:4-15",
            "[{a} groups of {b} {items} came to the {place}|the {place} had {a} groups with {b} "
            "{items} each|there were {a} groups of {b} {items} in the {place}]",
            product(COUNT),
        ),
        move(
            "mixed",
            "a:12-80 b:12-80",
            "[there were {a} girls and {b} boys in the {place}|{a} girls and {b} boys came to "
            "the {place}|the {place} had {a} girls and {b} boys]",
            Calc("+", "a", "b", COUNT, THINGS),
        ),
        move(
            "had",
            "a:25-150",
            "[there were {a} {items} in the {place}|the {place} had {a} {items}|{a} {items} "
            "came to the {place}]",
        ),
    ),
    moves=(
        move(
            "joined",
            "a:3-50",
            "{a} [more|others|new {items}] [joined|came|arrived|signed up|were added]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "left",
            "a:part",
            "{a} of them [left|went home|moved away|dropped out|got sick and left]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "vans",
            "a:2-6 b:4-12",
            "[{a} vans brought {b} more {items} each|{a} vans arrived with {b} {items} in each|"
            "another {a} vans brought {b} {items} each]",
            product("the vans bring @ {items}"),
            Calc("+", "p", "r1", COUNT, THINGS),
        ),
        move(
            "half",
            "",
            "half of them [left|went home early|went outside|were sent to another room|had to "
            "leave]",
            Calc("/", "p", "2", REMAIN, THINGS),
        ),
        move(
            "double",
            "",
            "the number of {items} [doubled|had doubled|became twice as large|grew to twice as "
            "many|was twice as large]",
            Calc("*", "p", "2", COUNT, THINGS),
        ),
    ),
    endings=(
        move(
            "teams",
            "a:div",
            "[the {items}|they|all of them] [formed|made|were put into] {a} equal teams",
            Calc(
                "/",
                "p",
                "a",
                "[each team has|every team has|a team has] @ {items}",
                THINGS,
            ),
            ask="how many {items} are in each team",
        ),
        move(
            "groups",
            "a:div",
            "[the {items}|they|all of them] [formed|made|were put into] groups of {a}",
            Calc("/", "p", "a", "[there are|that makes|they form] @ groups", "groups"),
            ask="how many groups [are there|were made|did they form]",
        ),
        fact(
            "sheets",
            "a:2-6",
            "each [of them|of the {items}] [needs|gets|is given] {a} {snack:s}",
            Calc("*", "p", "a", "[{S} needs|they need|that takes] @ {snack:s}", "{snack:s}"),
            ask="how many {snack:s} [are needed|do they need|does {S} need]",
        ),
        goal(
            "the {place} has [room|space|seats] for {a} {items}",
            "how many more {items} [fit|can come]",
            "[there is room for|there are places for] @ more {items}",
        ),
    ),
    hi=600,
    slots={
        "place": "school hall, gym, summer camp, club, theater, sports center, workshop",
        "snack": "bottle, pencil, sandwich, sheet of paper, ticket",
    },
    noise=(
        move(
            "noise-teacher",
            "c:3-15",
            "[there are {c} teachers|{c} teachers help out]",
            event=False,
        ),
    ),
)

BUS = Family(
    "bus",
    "passenger, person, traveler, tourist",
    "how many {items} are on the {bus} [now|in the end|after that]",
    openings=(
        move(
            "had",
            "a:15-90",
            "[there were {a} {items} on a {bus}|a {bus} [started|left the station] with {a} "
            "{items}|a {bus} carried {a} {items}]",
        ),
        move(
            "cars",
            "a:3-9 b:8-40",
            "a {bus} [with {a} cars carried {b} {items} in each|had {a} cars with {b} {items} "
            "each|left with {b} {items} in each of its {a} cars]",
            product("[the {bus} has|there are|that makes] @ {items}"),
        ),
    ),
    moves=(
        move(
            "off",
            "a:part",
            "[{a} [got off|left] at the [first|next] stop|{a} {items} got off|{a} of them [got "
            "off|left]]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "on",
            "a:4-45",
            "[{a} [more|others|{items}] got on|{a} new {items} came aboard|another {a} got on]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "swap",
            "a:part b:3-40",
            "at [a|one|the main] station {a} [got off|left] and {b} got on",
            Calc("-", "p", "a", REMAIN, THINGS),
            Calc("+", "r1", "b", COUNT, THINGS),
        ),
        move(
            "stops",
            "a:2-5 b:3-9",
            "[at each of {a} stops, {b} more got on|{b} {items} got on at each of {a} stops|{a} "
            "stops followed, with {b} new {items} at each]",
            product("[at these stops|there] @ {items} get on"),
            Calc("+", "p", "r1", COUNT, THINGS),
        ),
        move(
            "half",
            "",
            "[at the museum|in the city|at the market|at the airport|at the harbor] half of "
            "them got off",
            Calc("/", "p", "2", REMAIN, THINGS),
        ),
    ),
    endings=(
        fact(
            "fare",
            "a:2-9",
            "each of the {items} [still on board |on it at the end ]paid <a>",
            Calc("*", "p", "a", "[they pay|the driver gets|that is] @", "$"),
            ask="how much did they pay [in all|in total]",
        ),
        goal(
            "the {bus} has {a} seats",
            "how many seats are [empty|free]",
            "@ seats are [empty|free]",
            unit="seats",
        ),
        move(
            "taxis",
            "a:div",
            "at the last stop all of them went on in taxis, {a} in each",
            Calc("/", "p", "a", "they [need|take|fill] @ taxis", "taxis"),
            ask="how many taxis did they [need|take]",
        ),
    ),
    slots={"bus": "train, tram, ferry, night train"},
    noise=(
        move("noise-late", "c:3-25", "the {bus} was {c} minutes late", event=False),
        move("noise-line", "c:11-90", "the {bus} has the number {c}", event=False),
    ),
)

FAMILIES = (CLASS, BUS)
