"""Stories about gardens and about making things from beads."""

from __future__ import annotations

from tasks.embedded.endings import COMPARE, HAS, LEFT, THINGS, pack, sell, share, spread
from tasks.embedded.story import Calc, Family, move

GARDEN = Family(
    "garden",
    "tulip, rose, tomato plant, bean plant, daisy, sunflower, cabbage, pepper plant, lily, "
    "carrot, strawberry plant, pumpkin plant, lettuce plant, pansy",
    "how many {items} [does {S} have|are there|are growing] [now|in the garden|in the end]",
    openings=(
        move(
            "rows",
            "a:3-9 b:6-25",
            "{S} planted [{a} rows of {b} {items}|{a} rows with {b} {items} each|{b} {items} in "
            "each of {a} rows|{items} in {a} rows of {b}]",
            Calc(
                "*",
                "a",
                "b",
                "[{S} [plants|planted|has]|there are|the rows hold] @ {items}",
                THINGS,
            ),
        ),
        move(
            "had",
            "a:15-95",
            "[{S} [had|planted|grew] {a} {items} in {his} garden|there were {a} {items} in "
            "{N}'s garden]",
        ),
        move(
            "beds",
            "a:10-70 b:10-60",
            "{S} planted {a} {items} [in front of the house and {b} behind it|in one bed and "
            "{b} in another|on the left side and {b} on the right side]",
            Calc("+", "a", "b", HAS, THINGS),
        ),
    ),
    moves=(
        move(
            "planted",
            "a:5-50",
            "{S} [planted {a} more|planted another {a}|added {a} more {items}|put in {a} more|"
            "bought and planted {a} more]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
        move(
            "wilted",
            "a:part",
            "{a} of [them|the {items}] [died in the frost|wilted|dried up|were destroyed by a "
            "storm|did not survive]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "rabbits",
            "a:2-15",
            "[rabbits|deer|snails|goats] [ate|ruined|destroyed] {a} of [them|the {items}]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "newrows",
            "a:2-6 b:4-12",
            "{S} [added {a} new rows of {b}|planted {a} more rows of {b} {items}|planted "
            "another {a} rows with {b} in each]",
            Calc("*", "a", "b", "[the new rows [have|hold]|{S} adds] @ {items}", THINGS),
            Calc("+", "p", "r1", HAS, THINGS),
        ),
        move(
            "gave",
            "a:part",
            "{S} [gave {a} of them to {F}|dug up {a} of them for {F}|sold {a} of them|moved {a} "
            "of them to {F}'s garden|let {F} take {a} of them]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "double",
            "",
            "the number of {items} [doubled|had doubled|became twice as large|grew to twice as "
            "many|was twice as large]",
            Calc("*", "p", "2", HAS, THINGS),
        ),
    ),
    endings=(
        spread("moved|replanted|divided", "bed"),
        sell("2-6"),
        *COMPARE,
        move(
            "water",
            "a:2-5",
            "each [of them|plant] [needs|gets|is given] {a} cups of water [a day|every day]",
            Calc(
                "*",
                "p",
                "a",
                "[{S} needs|the plants need|that takes] @ cups of water",
                "cups of water",
            ),
            ask=(
                "how many cups of water [do the plants need each day|does {S} need every day|"
                "are used in one day]"
            ),
            event=False,
        ),
    ),
    slots={"bed": "bed, row, pot, tub, planter"},
    noise=(
        move(
            "noise-size",
            "c:10-40",
            "[the garden is {c} meters long|{S} has a fence of {c} meters]",
            event=False,
        ),
        move(
            "noise-trees",
            "c:3-15",
            "there [are|were] {c} [fruit trees|bushes|benches|garden gnomes] nearby",
            event=False,
        ),
    ),
)

BEADS = Family(
    "beads",
    "bead, pearl, paper star, crystal, ribbon bow, glass bead, wooden bead, sequin",
    "how many {items} [does {S} have|are] left",
    openings=(
        move(
            "had",
            "a:40-200",
            "{S} [had|bought|started with|owned] {a} {items}[| for {his} crafts| for making "
            "jewelry]",
        ),
        move(
            "bags",
            "a:3-9 b:12-50",
            "{S} bought {a} [bags|packs|tubes] [of {b} {items}|with {b} {items} each|that hold "
            "{b} {items} each]",
            Calc("*", "a", "b", HAS, THINGS),
        ),
        move(
            "colors",
            "a:20-99 b:20-99",
            "{S} [had|bought] {a} [red|green|gold] {items} and {b} [white|silver|purple] [ones|"
            "{items}]",
            Calc("+", "a", "b", HAS, THINGS),
        ),
    ),
    moves=(
        move(
            "used",
            "a:2-9 b:4-25",
            "{S} made {a} {craft:s} [with {b} {items} each|that use {b} {items} each|and each "
            "took {b} {items}|using {b} {items} for each]",
            Calc("*", "a", "b", "the {craft:s} [use|need|take] @ {items}", THINGS),
            Calc("-", "p", "r1", LEFT, THINGS),
        ),
        move(
            "one",
            "a:part",
            "{S} [used {a} [of them|{items}] for a [belt|crown|picture frame|mask]|sewed {a} of "
            "them on a dress|put {a} of them on a hat]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "bought",
            "a:10-90",
            "{S} [bought {a} more|got {a} more [from {F}|at a shop]|ordered {a} more {items}|"
            "added another {a}]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
        move(
            "spilled",
            "a:2-30",
            "{a} of them [rolled away|fell down a drain|broke|got lost|were cracked]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "shared",
            "",
            "{S} [gave half of them to {F}|gave {F} half of the {items}|shared half of them "
            "with {F}|used half of them for a lamp|lost half of them]",
            Calc("/", "p", "2", LEFT, THINGS),
        ),
    ),
    endings=(
        share(),
        pack("sorted|put|packed", "jar"),
        move(
            "make",
            "a:div",
            "each {craft} [needs|takes|uses] {a} {items}",
            Calc("/", "p", "a", "{S} can [make|finish] @ {craft:s}", "{craft:s}"),
            ask="how many {craft:s} can {S} [make|make with them|make from the rest]",
            event=False,
        ),
        *COMPARE,
    ),
    slots={
        "craft": "bracelet, necklace, key chain, pendant",
        "jar": "jar, cup, drawer, small box",
    },
    noise=(
        move(
            "noise-time",
            "c:12-50",
            "{S} [worked|sat outside] for {c} minutes",
            event=False,
        ),
    ),
)

FAMILIES = (GARDEN, BEADS)
