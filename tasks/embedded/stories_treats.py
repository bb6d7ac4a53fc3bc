"""Stories about sweets to share and about photos and drawings."""

from __future__ import annotations

from tasks.embedded.endings import (
    COMPARE,
    COUNT,
    HAS,
    LEFT,
    THINGS,
    pack,
    sell,
    share,
    spread,
)
from tasks.embedded.story import Calc, Family, move

SWEETS = Family(
    "sweets",
    "candy, chocolate, gumdrop, toffee, lollipop, mint, caramel, jelly bean, grape, cherry, "
    "peanut, raisin, walnut, strawberry",
    "how many {items} [does {S} have|are] left",
    openings=(
        move(
            "bags",
            "a:2-9 b:8-40",
            "{S} [bought|got|had] {a} bags [of {b} {items}|with {b} {items} each|with {b} "
            "{items} in each]",
            Calc("*", "a", "b", HAS, THINGS),
        ),
        move(
            "had",
            "a:20-99",
            "{S} [had|was given|got|bought] {a} {items}[| for {his} birthday| at a fair| in a "
            "bowl]",
        ),
        move(
            "two",
            "a:12-70 b:12-60",
            "{S} got {a} {items} from {his} [aunt|uncle|mother|father] and {b} from [a cousin|a "
            "neighbor|a teacher|{F}]",
            Calc("+", "a", "b", HAS, THINGS),
        ),
    ),
    moves=(
        move(
            "ate",
            "a:part",
            "{S} [ate {a} of them|ate {a}|ate {a} of the {items}|and {F} ate {a} of them|"
            "finished {a} of them]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "each",
            "a:2-6 b:2-9",
            "{S} gave {b} {items} [to each of {a} friends|to each of {a} cousins|each to {a} "
            "classmates]",
            Calc("*", "a", "b", "{S} [gives away|gave away|hands out] @ {items}", THINGS),
            Calc("-", "p", "r1", LEFT, THINGS),
        ),
        move(
            "got",
            "a:5-40",
            "[{F} gave {o} {a} more|{S} [got|found|bought] {a} more[| {items}]|{S} received {a} "
            "more from {F}]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
        move(
            "daily",
            "a:2-7 b:2-9",
            "{S} ate [{b} of them a day for {a} days|{b} {items} every day for {a} days|{b} "
            "each day for {a} days]",
            Calc("*", "a", "b", "[{S} [eats|ate]|that is] @ {items}[| in that time]", THINGS),
            Calc("-", "p", "r1", LEFT, THINGS),
        ),
        move(
            "half",
            "",
            "{S} [gave half of them to {F}|gave {F} half of the {items}|ate half of them|saved "
            "half of them and gave the rest to {F}|put half of them aside for {F}]",
            Calc("/", "p", "2", LEFT, THINGS),
        ),
    ),
    endings=(share(), pack(box="cup"), spread(box="cup"), *COMPARE),
    slots={"cup": "bag, bowl, jar, paper cup"},
    noise=(move("noise-price", "c:2-9", "[a bag costs <c>|a bag had cost <c>]", event=False),),
)

PHOTOS = Family(
    "photos",
    "photo, picture, drawing, painting, sketch, print, poem, video clip, song",
    "how many {items} [does {S} have|are there|does {S} keep] [now|in the end|at last]",
    openings=(
        move(
            "days",
            "a:3-9 b:8-30",
            "{S} made {b} {items} [a day for {a} days|every day for {a} days|on each of {a} days]",
            Calc("*", "a", "b", HAS, THINGS),
        ),
        move(
            "had",
            "a:30-150",
            "{S} [had|kept|had made|stored] {a} {items}[| on {his} computer| in a folder| for "
            "an exhibition]",
        ),
        move(
            "two",
            "a:15-90 b:12-80",
            "{S} made {a} {items} [in the city and {b} at the lake|in June and {b} in July|at "
            "home and {b} on a trip]",
            Calc("+", "a", "b", HAS, THINGS),
        ),
    ),
    moves=(
        move(
            "deleted",
            "a:part",
            "{S} [removed {a} of them|threw out {a} bad ones|got rid of {a} of the {items}|"
            "crossed {a} off the list|took {a} of them out]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "more",
            "a:6-60",
            "{S} [made {a} more|added {a} more {items}|made another {a}|got {a} from {F}|"
            "finished {a} more]",
            Calc("+", "p", "a", HAS, THINGS),
        ),
        move(
            "sent",
            "a:2-6 b:3-12",
            "{S} gave away {b} {items} to each of {a} [friends|relatives|visitors|fans|teachers]",
            Calc("*", "a", "b", "{S} [gives away|gave away] @ {items}", THINGS),
            Calc("-", "p", "r1", LEFT, THINGS),
        ),
        move(
            "half",
            "",
            "{S} kept only half of [them|the {items}][| and sold the rest| and gave {F} the "
            "rest| after a week| in {his} folder]",
            Calc("/", "p", "2", LEFT, THINGS),
        ),
        move(
            "twice",
            "",
            "{F} [brought|added|sent] [just as many|the same number] [|too|as well]",
            Calc("*", "p", "2", COUNT, THINGS),
        ),
    ),
    endings=(
        pack("put|placed|arranged|sorted", "page"),
        spread("put|placed|arranged|sorted", "page"),
        sell("3-9"),
        *COMPARE,
    ),
    slots={"page": "folder, album, binder, wall"},
    noise=(
        move(
            "noise-frame", "c:4-30", "[{S} owns {c} empty frames|a frame costs <c>]", event=False
        ),
    ),
)

FAMILIES = (SWEETS, PHOTOS)
