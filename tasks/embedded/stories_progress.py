"""Stories about pages read and about distances covered."""

from __future__ import annotations

from tasks.embedded.endings import (
    AHEAD,
    THINGS,
    daily,
    goal,
    more_days,
    running_total,
    summed,
)
from tasks.embedded.story import Calc, Family, fact, move

READING = Family(
    "reading",
    "page",
    "how many pages did {S} read [in all|in total|altogether]",
    openings=(
        move(
            "daily",
            "a:3-9 b:8-40",
            "{S} read {b} pages [a day for {a} days|every evening for {a} evenings|a night for "
            "{a} nights|on each of {a} days]",
            *daily("read"),
        ),
        move(
            "first",
            "a:12-90",
            "{S} read {a} pages [on Monday|on the first day|of a {kind} book|in the morning|"
            "before lunch]",
        ),
        move(
            "two",
            "a:12-80 b:10-80",
            "{S} read {a} pages [on Saturday and {b} on Sunday|in the morning and {b} in the "
            "evening|at home and {b} on the train]",
            Calc("+", "a", "b", "[{S} read|that is] @ {items}[| in all]", THINGS),
        ),
    ),
    moves=(
        move(
            "more",
            "a:8-70",
            "{S} read {a} [more pages|pages [in bed|on the bus|in the park|at {his} aunt's "
            "house]]",
            *summed("read"),
        ),
        move(
            "days",
            "a:2-6 b:6-25",
            "{S} read {b} pages [a day|each day] for [another {a} days|the next {a} days|{a} "
            "more days]",
            *more_days("read", "read"),
        ),
        move(
            "twice",
            "a:k",
            "the next [week|month|weekend] {S} read {a:x} as many pages as [until then|before]",
            Calc("*", "p", "a", "[in that time|then|that time] {S} read @ pages", THINGS),
            Calc("+", "p", "r1", running_total("read"), THINGS),
        ),
        move(
            "again",
            "",
            "{S} [later read as many pages again as until then|then read as many pages as in all "
            "the time before|read as many pages on vacation as before it]",
            Calc("*", "p", "2", running_total("read"), THINGS),
        ),
    ),
    endings=(
        goal(
            "the [book|novel] has {a} pages",
            "how many pages [are left|does {S} still have to read|are still unread|remain]",
            "{S} [still has to read|has to read] @ [more pages|pages]",
        ),
        fact(
            "finish",
            "a:over b:div",
            "[the book has {a} pages and {S} plans to read the rest at {b} pages a day|{S} will "
            "read the rest of the {a}-page book at {b} pages a day]",
            Calc("-", "a", "p", "[there are @ pages [left|to read]|that leaves @ pages]", THINGS),
            Calc("/", "r1", "b", "{S} [needs|will need] @ days", "days"),
            ask="how many [more |]days [does {S} need|will it take {o}]",
        ),
        fact(
            "friend",
            "a:part",
            "{F} read {a} fewer pages than {N}",
            Calc("-", "p", "a", "{F} [has read|read] @ pages", THINGS),
            ask="how many pages did {F} read",
        ),
    ),
    hi=600,
    slots={"kind": "history, science, travel, mystery, picture"},
    noise=(
        move("noise-shelf", "c:8-60", "{S} owns {c} books", event=False),
        move("noise-chapter", "c:5-30", "the book has {c} chapters", event=False),
    ),
)

TRIP = Family(
    "trip",
    "mile, kilometer",
    "how [far did {S} travel|many {items} did {S} travel|many {items} did {S} cover] [in all|in "
    "total|altogether]",
    openings=(
        move(
            "speed",
            "a:2-9 b:8-65",
            "{S} [drove|traveled|rode a train|went by bus] [for {a} hours at {b} {items} an "
            "hour|at {b} {items} per hour for {a} hours]",
            *daily("covers"),
        ),
        move(
            "first",
            "a:15-150",
            "{S} [drove|traveled|cycled|went] {a} {items} [on the first day|in the morning|to "
            "{town}|before stopping]",
        ),
        move(
            "two",
            "a:12-95 b:12-95",
            "{S} [drove|cycled|traveled] {a} {items} [on Friday and {b} on Saturday|before "
            "lunch and {b} after lunch|to {town} and then {b} to the coast]",
            Calc("+", "a", "b", "[{S} covers|that is] @ {items}", THINGS),
        ),
    ),
    moves=(
        move(
            "more",
            "a:8-95",
            "{S} [went another {a} {items}|went on for {a} more {items}|made a detour of {a} "
            "{items}|covered {a} more {items}]",
            *summed("covered"),
        ),
        move(
            "hours",
            "a:2-6 b:5-50",
            "{S} [went on|continued] for {a} [more hours|hours] at {b} {items} an hour",
            Calc(
                "*", "a", "b", "[in that time {S} covers|that part is|this adds] @ {items}", THINGS
            ),
            Calc("+", "p", "r1", running_total("covered"), THINGS),
        ),
        move(
            "back",
            "",
            "{S} [came back the same way|returned by the same road|went home along the same "
            "route|took the same way back]",
            Calc("*", "p", "2", running_total("covered"), THINGS),
        ),
        move(
            "walk",
            "a:2-7 b:2-9",
            "{S} [walked {b} {items} a day for {a} days|hiked {b} {items} on each of {a} days]",
            *more_days("covered", "walks"),
        ),
    ),
    endings=(
        goal(
            "the whole [route|trip|way] is {a} {items}[| long]",
            "how many {items} are [left|still to go]",
            AHEAD,
        ),
        fact(
            "fuel",
            "a:div",
            "[a car|{S's} car|a van] [goes|can go|drives] {a} {items} [on|with] [a|one] gallon of "
            "gas",
            Calc(
                "/", "p", "a", "[that takes|it would need|it takes] @ gallons[| of gas]", "gallons"
            ),
            # Some of the way may have been cycled or walked.
            ask="how many gallons of gas would it need for [the whole way|all of this|this way]",
        ),
        fact(
            "days",
            "a:div",
            "[{S} plans to do all of it again, spread evenly over {a} days|{S} wants to go the "
            "whole way again in {a} days and equally far on each of them]",
            Calc("/", "p", "a", "[{S} covers|that is] @ {items} a day", THINGS),
            ask="how many {items} will that be per day",
        ),
    ),
    hi=600,
    slots={"town": "the lake, the city, the coast, the mountains, the border"},
    noise=(
        move("noise-stop", "c:10-50", "{S} stopped for {c} minutes to eat", event=False),
        move("noise-songs", "c:4-40", "{S} listened to {c} songs", event=False),
    ),
)

FAMILIES = (READING, TRIP)
