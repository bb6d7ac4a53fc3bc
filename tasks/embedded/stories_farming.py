"""Stories about farm animals and about a harvest."""

from __future__ import annotations

from tasks.embedded.endings import (
    COUNT,
    GATHER,
    REMAIN,
    THINGS,
    goal,
    pack,
    product,
    sell,
    spread,
)
from tasks.embedded.story import Calc, Family, fact, move

FARM = Family(
    "farm",
    "sheep, cow, goat, pig, horse, duck, chicken, rabbit, goose, hen",
    GATHER,
    openings=(
        move("had", "a:15-95", "{S} [had|kept|owned] {a} {items} on {his} farm"),
        move(
            "pens",
            "a:3-9 b:5-25",
            "{S} [had|kept] {a} {pen:s} with {b} {items} [each|in each]",
            product("[{S} has|there are] @ {items}"),
        ),
        move(
            "two",
            "a:12-80 b:10-70",
            "{S} had {a} [white|young|brown] {items} and {b} [black|old|spotted] [ones|{items}]",
            Calc("+", "a", "b", "[{S} has|there are] @ {items}", THINGS),
        ),
    ),
    moves=(
        move(
            "born",
            "a:4-40",
            "[{a} more were born|{a} young {items} were born|{S} raised {a} more|in spring {a} "
            "{items} were born]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "bought",
            "a:4-50",
            "{S} [bought {a} more [from {F}|at a fair]|bought {a} {items}|got {a} more from a "
            "neighbor|added {a} {items}]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "sold",
            "a:part",
            "{S} sold {a} [of them|of the {items}|to {F}|at the market|to a neighbor]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "away",
            "a:2-12",
            "{a} [of them ran away|got lost in the hills|were given to {F}|were moved to "
            "another farm]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "half",
            "",
            "{S} [sold half of them|gave half of the {items} to {F}|moved half of them to "
            "another farm|lent half of them to {F}|had to sell half of the {items}]",
            Calc("/", "p", "2", REMAIN, THINGS),
        ),
    ),
    endings=(
        fact(
            "feed",
            "a:2-6",
            "each [of them|animal] [eats|needs|gets] {a} kilograms of food a [day|week]",
            Calc("*", "p", "a", "[they [need|eat]|{S} needs] @ kilograms[| of food]", "kilograms"),
            ask="how many kilograms of food [do they need|does {S} need] in that time",
        ),
        spread("put|divided|moved", "pen"),
        pack("put|moved", "pen"),
        goal(
            "the farm has [room|space] for {a} {items}",
            "how many more {items} [fit|can live there]",
            "[there is room for|{S} can add] @ more {items}",
        ),
    ),
    slots={"pen": "pen, barn, field, stable"},
    noise=(
        move("noise-tractor", "c:3-30", "the farm is {c} years old", event=False),
        move("noise-trees", "c:8-60", "there are {c} apple trees on the farm", event=False),
    ),
)

EGGS = Family(
    "harvest",
    "egg, apple, pear, peach, melon, potato, onion, plum, lemon, orange, mango",
    "how many {items} [does {S} have|are] left",
    openings=(
        move(
            "days",
            "a:3-9 b:7-30",
            "{S} [collected|picked|gathered] {b} {items} [a day for {a} days|every day for {a} "
            "days|on each of {a} days]",
            product("[{S} has|that is|there are] @ {items}"),
        ),
        move(
            "baskets",
            "a:3-9 b:8-40",
            "{S} [filled|carried home|brought in] {a} {basket:s} [with {b} {items} each|of {b} "
            "{items} each]",
            product("[{S} has|that is|there are] @ {items}"),
        ),
        move(
            "two",
            "a:15-90 b:12-80",
            "{S} [picked|gathered|collected] {a} {items} and {F} gave {o} {b}",
            Calc("+", "a", "b", "[{S} has|together there are] @ {items}", THINGS),
        ),
    ),
    moves=(
        move(
            "used",
            "a:part",
            "{S} [used {a} of them [for a cake|in the kitchen]|ate {a} of them with {his} "
            "family|gave {a} of them to a school|cooked {a} of them]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "bad",
            "a:2-15",
            "{a} of them [were bad|broke|rolled off the cart|were too small|got spoiled]",
            Calc("-", "p", "a", REMAIN, THINGS),
        ),
        move(
            "each",
            "a:2-7 b:3-12",
            "{S} [gave {b} {items} to each of {a} neighbors|sold {b} {items} to each of {a} "
            "customers|sent {b} {items} to each of {a} cousins]",
            product("[that is|{S} hands out] @ {items}"),
            Calc("-", "p", "r1", REMAIN, THINGS),
        ),
        move(
            "more",
            "a:6-60",
            "{S} [picked another {a}|found {a} more|brought in {a} more|got {a} more from {F}|"
            "added {a} {items}]",
            Calc("+", "p", "a", COUNT, THINGS),
        ),
        move(
            "half",
            "",
            "{S} sold half of [them|the {items}][| at the market| to {F}| to a shop| in town]",
            Calc("/", "p", "2", REMAIN, THINGS),
        ),
    ),
    endings=(
        pack("packed|put|placed", "carton"),
        sell("2-5"),
        spread("packed|put|sorted", "carton"),
    ),
    slots={"basket": "basket, sack, crate, bucket", "carton": "carton, tray, box, net"},
    noise=(
        move("noise-walk", "c:5-40", "the market is {c} minutes away", event=False),
        move("noise-price", "c:3-12", "{F} sells jam for <c> a jar", event=False),
    ),
)

FAMILIES = (FARM, EGGS)
