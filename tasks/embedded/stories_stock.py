"""Stories about what a workshop makes and what stands on shelves."""

from __future__ import annotations

from tasks.embedded.endings import COUNT, NOW, REMAIN, THINGS, goal, pack, product, sell, spread
from tasks.embedded.story import Calc, Family, move

FACTORY = Family(
    "factory",
    "chair, table, bottle, toy robot, shoe, brick, bicycle bell, lamp, umbrella, bucket, helmet",
    "how many {items} [are there|does the {place} have] [now|in the end]",
    openings=(
        move(
            "hours",
            "a:3-9 b:8-45",
            "[a machine made {b} {items} an hour for {a} hours|the {place} made {b} {items} a "
            "day for {a} days|{a} workers made {b} {items} each]",
            product("[the {place} has|there are|that makes] @ {items}"),
        ),
        move(
            "had",
            "a:40-250",
            "[the {place} had {a} {items}|there were {a} {items} in the {place}|{S} counted {a} "
            "{items} in the {place}]",
        ),
    ),
    moves=(
        move(
            "broken",
            "a:2-25",
            "{a} of them [were broken|had to be thrown away|failed the test|had scratches and "
            "were removed|were damaged and taken out]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "sold",
            "a:part",
            "[{a} of them were sold|{S} sold {a} of them|a truck took {a} of them away|"
            "customers bought {a} of the {items}]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "orders",
            "a:2-8 b:3-12",
            "[{a} shops ordered {b} {items} each|{a} trucks took away {b} {items} each|{a} "
            "customers got {b} {items} each]",
            product("[that is|these take] @ {items}"),
            Calc("-", "p", "r1", REMAIN, THINGS),
        ),
        move(
            "more",
            "a:10-90",
            "[the workers made {a} more|another {a} were made|{a} more [arrived|were delivered]|"
            "{S} added {a} more]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "second",
            "a:2-6 b:6-30",
            "[another machine made {b} an hour for {a} hours|{a} trucks brought {b} more each|"
            "the night team made {b} {items} an hour for {a} hours]",
            product("that adds @ {items}"),
            Calc("+", "p", "r1", COUNT, THINGS),
        ),
    ),
    endings=(
        pack("packed|put|placed", "crate"),
        spread("packed|put|placed", "crate"),
        sell("3-9"),
        goal(
            "the plan is to have {a} {items}",
            "how many {items} are [missing|still needed]",
            "@ {items} are [missing|still needed]",
        ),
    ),
    hi=600,
    slots={
        "place": "factory, workshop, warehouse, store",
        "crate": "crate, box, pallet, container",
    },
    noise=(move("noise-workers", "c:6-60", "{c} people work in the {place}", event=False),),
)

LIBRARY = Family(
    "shelves",
    "book, magazine, record, map, folder, movie, game",
    NOW,
    openings=(
        move(
            "shelves",
            "a:3-9 b:12-50",
            "[the {place} has {a} shelves with {b} {items} each|there were {a} shelves with {b} "
            "{items} each in the {place}|{S} filled {a} shelves of the {place} with {b} {items} "
            "each]",
            product(COUNT),
        ),
        move(
            "had",
            "a:50-300",
            "[the {place} had {a} {items}|there were {a} {items} in the {place}|{S} counted {a} "
            "{items} in the {place}]",
        ),
        move(
            "two",
            "a:20-99 b:20-99",
            "the {place} [had|owned|kept] {a} [old|thick] and {b} [new|thin] {items}",
            Calc("+", "a", "b", COUNT, THINGS),
        ),
    ),
    moves=(
        move(
            "lent",
            "a:part",
            "[{a} of them were borrowed|visitors borrowed {a} of them|{S} lent out {a} of them|"
            "{a} {items} were taken out|people checked out {a} of them]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "back",
            "a:5-60",
            "[{a} others were returned|{a} {items} came back|people brought back {a} {items}|"
            "{S} put back {a} {items}]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "boxes",
            "a:2-8 b:5-20",
            "[{S} bought {a} boxes of {b} {items}|{a} boxes with {b} {items} each were "
            "delivered|somebody donated {a} boxes of {b} {items} each]",
            product("the boxes [hold|add] @ {items}"),
            Calc("+", "p", "r1", COUNT, THINGS),
        ),
        move(
            "old",
            "a:3-40",
            "[{a} old ones were thrown away|{S} threw out {a} old ones|{a} of them were worn "
            "out and removed|{S} sold {a} old ones]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
    ),
    endings=(
        spread("put|sorted|placed", "rack"),
        pack("put|sorted|placed", "rack"),
        goal(
            "the {place} has [room|space] for {a} {items}",
            "how many more {items} [fit|can be added]",
            "[there is room for|{S} can add] @ more {items}",
        ),
    ),
    hi=700,
    slots={"place": "library, shop, school library, club room", "rack": "rack, box, drawer, case"},
    noise=(move("noise-open", "c:5-12", "the {place} is open for {c} hours a day", event=False),),
)

FAMILIES = (FACTORY, LIBRARY)
