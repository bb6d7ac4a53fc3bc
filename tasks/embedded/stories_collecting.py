"""Stories about collections and about baking."""

from __future__ import annotations

from tasks.embedded.endings import (
    COMPARE,
    HAS,
    LEFT,
    THINGS,
    goal,
    pack,
    sell,
    share,
    spread,
)
from tasks.embedded.story import Calc, Family, move

COLLECTION = Family(
    "collection",
    "stamp, marble, shell, sticker, coin, badge, postcard, toy car, comic book, button, trading "
    "card, key ring, magnet, pebble, model train, poster, figurine, bottle cap",
    "how many {items} [does {S} have|does {S} own|are in {S's} collection] [now|in the end|"
    "after all this|at the end]",
    openings=(
        move(
            "had",
            "a:15-99",
            "{S} [had|owned|had collected|started with|began with] {a} {items}[| in {his} room| "
            "in a drawer| at home]",
        ),
        move(
            "boxes",
            "a:3-9 b:6-30",
            "{S} [had {a} {box:s} [of|with] {b} {items} each|kept {b} {items} in each of {a} "
            "{box:s}|owned {a} {box:s} that held {b} {items} each|filled {a} {box:s} with {b} "
            "{items} each]",
            Calc("*", "a", "b", HAS, THINGS),
        ),
        move(
            "colors",
            "a:12-80 b:8-60",
            "{S} [had|owned|collected|kept] {a} {color} {items} and {b} {shade} [ones|{items}]",
            Calc("+", "a", "b", HAS, THINGS),
        ),
    ),
    moves=(
        move(
            "gift",
            "a:5-60",
            "[{F} gave {o} {a} [more|more {items}|{items}]|{S} [got|received] {a} [more|{items}|"
            "more {items}] from {F}|{S} was given {a} [more|more {items}] by {F}]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
        move(
            "packs",
            "a:2-9 b:3-12",
            "{S} bought [{a} packs of {b} {items}|{a} packs with {b} {items} each|{a} packs, "
            "each with {b} {items}]",
            Calc(
                "*",
                "a",
                "b",
                "[the packs [hold|have|contain]|{S} [buys|bought|gets]] @ {items}",
                THINGS,
            ),
            Calc("+", "p", "r1", HAS, THINGS),
        ),
        move(
            "lost",
            "a:part",
            "{S} [lost {a}|lost {a} of them|threw away {a} old ones|misplaced {a} of the "
            "{items}|dropped {a} of them on the way]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "gave",
            "a:part",
            "{S} [gave {a} of them to {F}|gave {F} {a} of them|let {F} have {a} of the {items}|"
            "handed {a} of them to {F}|passed {a} of the {items} on to {F}]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "half",
            "",
            "{S} [gave half of them to {F}|sold half of the {items}|gave away half of them|lost "
            "half of them|swapped half of them for a book]",
            Calc("/", "p", "2", LEFT, THINGS),
        ),
        move(
            "trade",
            "a:part b:4-40",
            "{S} traded {a} of them [to {F} for {b} other {items}|for {b} [new|different|"
            "better] ones]",
            Calc(
                "-",
                "p",
                "a",
                "after giving [them up|{a} away], {S} [has|is left with] @ {items}",
                THINGS,
            ),
            Calc("+", "r1", "b", HAS, THINGS),
        ),
        move(
            "found",
            "a:4-40",
            "{S} [found {a} more [in a drawer|at a flea market|in the attic|at {his} aunt's "
            "house]|came across {a} more at a fair|picked up {a} more]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
    ),
    endings=(
        share(),
        pack(box="box"),
        spread(box="box"),
        sell(),
        *COMPARE,
        goal(
            "{S} wants [to have {a} {items}|a collection of {a} {items}|to reach {a} {items}]",
            "how many more {items} does {S} need",
            "{S} [needs|still needs|is missing|has to find] @ [more|more {items}]",
        ),
    ),
    slots={
        "box": "box, album, jar, bag, case, tin",
        "color": "red, old, small, plain, round",
        "shade": "blue, new, large, shiny, rare",
    },
    noise=(
        move("noise-other", "c:6-60", "{S} [had|owned|kept] {c} {other:s}", event=False),
        move("noise-friend", "c:10-80", "{F} [collects|had] {c} {other:s}", event=False),
    ),
)

BAKERY = Family(
    "baking",
    "cookie, muffin, cupcake, bread roll, pancake, brownie, bagel, scone, doughnut, pie, "
    "waffle, tart",
    "how many {items} [are|were] left",
    openings=(
        move(
            "trays",
            "a:3-9 b:6-24",
            "{S} baked {a} [trays|batches] of [{b} {items}|{b} {items} each]",
            Calc(
                "*",
                "a",
                "b",
                "[{S} [bakes|baked|makes]|the oven gives|there are] @ {items}",
                THINGS,
            ),
        ),
        move(
            "dozen",
            "a:2-9",
            "{S} [baked|made] {a} dozen {items} [|for a fair|for the weekend|in the morning]",
            Calc("*", "a", "12", "[{S} [bakes|baked|makes]|that is|there are] @ {items}", THINGS),
        ),
        move(
            "times",
            "a:14-70 b:12-60",
            "{S} [baked|made] {a} {items} [in the morning and {b} in the afternoon|on Saturday "
            "and {b} on Sunday|before lunch and {b} after lunch]",
            Calc("+", "a", "b", "[{S} [bakes|baked|makes]|that is|there are] @ {items}", THINGS),
        ),
        move(
            "had",
            "a:20-99",
            "{S} [baked|made|had baked|prepared] {a} {items}[| for a party| for the school fair|"
            " that day]",
        ),
    ),
    moves=(
        move(
            "ate",
            "a:part",
            "[{his} family ate {a} of them|{S} and {F} ate {a} of the {items}|{a} of the "
            "{items} were eaten [at breakfast|right away|by hungry guests]|guests ate {a} of "
            "them]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "burned",
            "a:2-12",
            "[{a} of them [were burned|got burned|fell on the floor|were too dark]|{S} burned "
            "{a} of the {items}|{S} had to throw away {a} of them]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "more",
            "a:6-48",
            "{S} [baked {a} more|baked another {a}|made {a} more {items}|added {a} more|made "
            "another {a} of them]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
        move(
            "neighbors",
            "a:2-6 b:2-9",
            "{S} gave {b} {items} [to each of {a} neighbors|to each of {a} friends|each to {a} "
            "coworkers]",
            Calc("*", "a", "b", "{S} [gives away|gave away|hands out] @ {items}", THINGS),
            Calc("-", "p", "r1", LEFT, THINGS),
        ),
        move(
            "sold",
            "a:part",
            "{S} sold {a} of [them|the {items}] [at the market|to a café|to {his} neighbors|at "
            "a stall|after school]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "half",
            "",
            "{S} [took half of them to school|sold half of them|froze half of the {items}|gave "
            "half of them to {F}|brought half of the {items} to {his} office]",
            Calc("/", "p", "2", LEFT, THINGS),
        ),
        move(
            "second",
            "a:2-6 b:6-12",
            "{S} [baked|made] {a} more trays of {b} [each|{items}]",
            Calc(
                "*",
                "a",
                "b",
                "[the extra trays hold|the new trays have|{S} adds] @ {items}",
                THINGS,
            ),
            Calc("+", "p", "r1", HAS, THINGS),
        ),
    ),
    endings=(
        share(),
        pack(),
        spread(),
        sell("2-5"),
        goal(
            "the [party|café|club|fair] needs {a} {items}",
            "how many more {items} does {S} have to [bake|make]",
            "{S} [needs|still has to bake|has to make|is short of] @ [more|more {items}]",
        ),
    ),
    slots={"box": "box, bag, basket, tin"},
    noise=(
        move(
            "noise-oven",
            "c:15-45",
            "[the oven needed {c} minutes|each tray stays in the oven for {c} minutes]",
            event=False,
        ),
        move("noise-eggs", "c:3-12", "{S} used {c} eggs", event=False),
    ),
)

FAMILIES = (COLLECTION, BAKERY)
