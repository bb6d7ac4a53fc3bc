"""Stories about water in a tank and about a length of rope."""

from __future__ import annotations

from tasks.embedded.endings import THINGS, goal
from tasks.embedded.story import Calc, Family, fact, move

REMAINS = "[there are|the {tank} has|that leaves] @ {items}"
LEFT = "[{S} has @ {items} left|there are @ {items} left|that leaves @ {items}]"

TANK = Family(
    "tank",
    "liter, gallon",
    "how many {items} [of water |]are in the {tank} [now|in the end|at the end]",
    openings=(
        move(
            "fill",
            "a:3-9 b:6-30",
            "[a hose filled the {tank} with {b} {items} a minute for {a} minutes|{S} filled {a} "
            "buckets of {b} {items} into the {tank}|{S} poured {a} cans of {b} {items} into an "
            "empty {tank}]",
            Calc("*", "a", "b", "[the {tank} [holds|has]|there are] @ {items}", THINGS),
        ),
        move(
            "had",
            "a:40-250",
            "[the {tank} held {a} {items} of water|there were {a} {items} of water in the "
            "{tank}][| at first| in the morning]",
        ),
    ),
    moves=(
        move(
            "add",
            "a:10-90",
            "[{S} [added|poured in] {a} {items}|rain added {a} {items}|{a} {items} were pumped "
            "in]",
            Calc("+", "p", "a", "[the {tank} has|now there are|that makes] @ {items}", THINGS),
        ),
        move(
            "use",
            "a:part",
            "{S} [used {a} {items} for the garden|took out {a} {items}|needed {a} {items} to "
            "wash the car|let {a} {items} run out]",
            Calc(
                "-",
                "p",
                "a",
                REMAINS,
                THINGS,
            ),
        ),
        move(
            "leak",
            "a:2-9 b:2-9",
            "[a leak let out {b} {items} an hour for {a} hours|the {tank} lost {b} {items} a "
            "day for {a} days|{b} {items} an hour leaked out for {a} hours]",
            Calc("*", "a", "b", "[the leak|that] [takes|costs] @ {items}", THINGS),
            Calc("-", "p", "r1", REMAINS, THINGS),
        ),
        move(
            "cows",
            "a:2-9 b:3-12",
            "[{a} cows drank {b} {items} each|{a} horses drank {b} {items} each|{S} filled {a} "
            "cans with {b} {items} each from it]",
            Calc("*", "a", "b", "[that is|together that takes] @ {items}", THINGS),
            Calc("-", "p", "r1", REMAINS, THINGS),
        ),
        move(
            "half",
            "",
            "half of the water [was used|ran out|was pumped away|was given to {F}|dried up]",
            Calc("/", "p", "2", REMAINS, THINGS),
        ),
    ),
    endings=(
        goal(
            "the {tank} can hold {a} {items}",
            "how many [more |]{items} [fit in|are needed to fill it|are missing until it is full]",
            "[there is room for|it takes|it needs] @ [more {items}|{items} more]",
        ),
        move(
            "cans",
            "a:div",
            "{S} [filled all of it|poured everything] into cans [of {a} {items}|that hold {a} "
            "{items} each]",
            Calc("/", "p", "a", "[{S} fills|that fills|{S} needs] @ cans", "cans"),
            ask="how many cans [were filled|did {S} fill|did {S} need]",
        ),
        fact(
            "days",
            "a:div",
            "{S} uses {a} {items} [a day|every day|each day] from then on",
            Calc("/", "p", "a", "the water [lasts|will last] @ days", "days"),
            ask="how many days does the water last",
        ),
    ),
    hi=600,
    slots={"tank": "tank, barrel, pool, pond, basin"},
    noise=(
        move(
            "noise-fish", "c:3-20", "[the {tank} is {c} years old|{S} has {c} fish]", event=False
        ),
    ),
)

ROPE = Family(
    "rope",
    "meter, foot, inch, centimeter",
    "how many {items} of {rope} are left",
    openings=(
        move(
            "rolls",
            "a:2-9 b:10-50",
            "{S} [had|bought] {a} rolls of {rope} [with {b} {items} each|of {b} {items} each]",
            Calc("*", "a", "b", "[{S} has|that is|there are] @ {items}", THINGS),
        ),
        move(
            "had",
            "a:40-200",
            "{S} [had|bought|found|was given] [{a} {items} of {rope}|a piece of {rope} with a "
            "length of {a} {items}]",
        ),
        move(
            "joined",
            "a:20-95 b:20-95",
            "{S} [tied|joined] a {rope} of {a} {items} to one of {b} {items}",
            Calc("+", "a", "b", "the {rope} is @ {items} long", THINGS),
        ),
    ),
    moves=(
        move(
            "cut",
            "a:part",
            "{S} cut off {a} {items} [for {F}|for a project|to wrap a gift|to hang up a picture|"
            "for {his} bike]",
            Calc("-", "p", "a", LEFT, THINGS),
        ),
        move(
            "pieces",
            "a:2-9 b:2-12",
            "{S} [cut off {a} pieces of {b} {items} each|used {b} {items} for each of {a} gifts|"
            "needed {b} {items} for each of {a} flags]",
            Calc("*", "a", "b", "[that uses|the pieces take|these need] @ {items}", THINGS),
            Calc("-", "p", "r1", LEFT, THINGS),
        ),
        move(
            "more",
            "a:10-80",
            "{S} [bought {a} more {items}|got another {a} {items} from {F}|added {a} {items} of "
            "it|found {a} more {items} in the garage]",
            Calc("+", "p", "a", "[{S} has|that makes|there are] @ {items}", THINGS),
        ),
        move(
            "half",
            "",
            "{S} [used half of it for a fence|gave half of it to {F}|cut it in half and kept "
            "one half|lost half of it|put half of it away]",
            Calc("/", "p", "2", LEFT, THINGS),
        ),
    ),
    endings=(
        move(
            "equal",
            "a:div",
            "{S} cut [the rest|it|what was left] into {a} [equal pieces|pieces of the same "
            "length]",
            Calc("/", "p", "a", "each piece [is|measures] @ {items}[| long]", THINGS),
            ask="how [long is each piece|many {items} long is each piece]",
        ),
        move(
            "count",
            "a:div",
            "{S} cut [the rest|it|what was left] into pieces [of {a} {items}|that are {a} "
            "{items} long]",
            Calc("/", "p", "a", "{S} [gets|has] @ pieces", "pieces"),
            ask="how many pieces [did {S} get|are there]",
        ),
        goal(
            "{S} needs {a} {items} for a [tent|swing|net|kite|boat]",
            "how many more {items} does {S} need",
            "{S} [needs|still needs] @ more {items}",
        ),
    ),
    slots={"rope": "rope, ribbon, wire, string, cable, tape"},
    noise=(move("noise-price", "c:3-20", "the scissors had cost <c>", event=False),),
)

FAMILIES = (TANK, ROPE)
