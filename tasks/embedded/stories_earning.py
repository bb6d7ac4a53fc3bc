"""Stories about wages, about tickets sold and about a market stall."""

from __future__ import annotations

from tasks.embedded.endings import EARNS, KEEPS, OWNS, SUM
from tasks.embedded.story import Calc, Family, fact, move

PAY = Family(
    "pay",
    "café, bakery, farm, library, garage, flower shop, hotel, bookstore, supermarket, swimming "
    "pool",
    "how [much|much money|many dollars] did {S} [earn|make|take home] [in all|in total|"
    "altogether]",
    kept="how [much|much money|many dollars] [does {S} have left|is left for {S}|did {S} keep] "
    "[in the end|after all this|now]",
    openings=(
        move(
            "hours",
            "a:3-9 b:8-25",
            "{S} worked {a} hours at a {item} [for <b> an hour|and was paid <b> an hour|and "
            "earned <b> per hour|at <b> an hour]",
            Calc("*", "a", "b", EARNS, "$"),
        ),
        move(
            "days",
            "a:3-7 b:30-95",
            "{S} worked at a {item} for {a} days and [earned|was paid|made] <b> [a day|each day|"
            "per day]",
            Calc("*", "a", "b", EARNS, "$"),
        ),
        move(
            "two",
            "a:30-95 b:30-95",
            "{S} [earned|made|was paid] <a> on [Monday|Friday] and <b> on [Tuesday|Saturday] at "
            "a {item}",
            Calc("+", "a", "b", EARNS, "$"),
        ),
    ),
    moves=(
        move(
            "tips",
            "a:5-60",
            "{S} [got <a> in tips|also got <a> in tips|received <a> in tips|was given <a> in "
            "tips|collected <a> in tips]",
            Calc("+", "p", "a", EARNS + "[| with tips]", "$"),
        ),
        move(
            "bonus",
            "a:10-90",
            "the boss [added|paid] [a bonus of <a>|<a> extra|another <a>] [for good work|for "
            "coming early|for the weekend]",
            Calc("+", "p", "a", EARNS, "$"),
        ),
        move(
            "more",
            "a:2-6 b:6-20",
            "{S} [did another job for {a} hours at <b> an hour|taught {a} lessons for <b> each|"
            "worked {a} more hours for <b> an hour]",
            Calc("*", "a", "b", "the extra work [pays|brings] @", "$"),
            Calc("+", "p", "r1", EARNS, "$"),
        ),
        move(
            "fee",
            "a:3-20",
            "{S} [paid <a> for the bus|had to pay <a> for work shoes|paid <a> for parking|paid "
            "<a> for lunch|lost <a> on the way home]",
            Calc("-", "p", "a", KEEPS, "$"),
        ),
        move(
            "percent",
            "a:pct",
            "{S} [put {a:n}% of the pay aside|paid {a:n}% of it in taxes|gave {a:n}% of the "
            "money to {his} family] and kept the rest",
            Calc("/", "p", "a%", "{a:n}% of it is @", "$"),
            Calc("-", "p", "r1", KEEPS, "$"),
        ),
    ),
    endings=(
        fact(
            "rent",
            "a:part",
            "{S} [needs <a> for rent|spends <a> on food|has bills of <a>|owes {F} <a>]",
            Calc("-", "p", "a", KEEPS, "$"),
            ask="how much [will {S} have left|does {S} have left|is left] after paying that",
        ),
        fact(
            "goal",
            "a:over",
            "{S} needs <a> for a [trip|bike|new phone|course|present]",
            Calc("-", "a", "p", "{S} [still needs|is short of|is missing] @", "$"),
            ask="how much money is {S} still missing",
        ),
        fact(
            "coworker",
            "a:4-60",
            "{F} [took home|ended up with] <a> more than {N}",
            Calc("+", "p", "a", "{F} [takes home|has|gets] @", "$"),
            ask="how much did {F} [take home|end up with]",
        ),
        fact(
            "weeks",
            "a:2-6",
            "{S} did [exactly the same|just the same|the same] for {a} weeks[| in a row]",
            Calc("*", "p", "a", "in {a:n} weeks {S} [takes home|keeps] @", "$"),
            ask="how much did {S} [take home|keep] in all those weeks",
        ),
    ),
    noise=(
        move(
            "noise-people", "c:3-20", "{S} [works with {c} others|has {c} coworkers]", event=False
        ),
    ),
)

TICKETS = Family(
    "tickets",
    "concert, school play, puppet show, football game, museum night, magic show, film evening, "
    "dance show",
    "how much money [was made|was collected|did the {item} make|was paid] [in all|in total|"
    "altogether]",
    kept="how much money [was left|is left|remains|is left over] [in the end|after all this|now]",
    openings=(
        move(
            "adults",
            "a:8-60 b:3-9",
            "[{a} adults bought tickets for the {item} at <b> each|the {item} sold {a} tickets "
            "for adults at <b> each|at the {item}, {a} adults paid <b> each]",
            Calc("*", "a", "b", "the adults [pay|paid] @", "$"),
        ),
        move(
            "flat",
            "a:60-250",
            "the {item} [took in|collected|made|brought in] <a> [on the first day|from early "
            "tickets|in the morning|before the doors opened]",
        ),
    ),
    moves=(
        move(
            "kids",
            "a:8-60 b:2-6",
            "[{a} children paid <b> each|{a} children's tickets were sold for <b> each|{a} "
            "students bought tickets for <b> each]",
            Calc(
                "*",
                "a",
                "b",
                "the younger guests [pay|paid] @",
                "$",
            ),
            Calc("+", "p", "r1", SUM, "$"),
        ),
        move(
            "snacks",
            "a:6-45 b:2-5",
            "[{a} {snack:s} were sold for <b> each|{S} sold {a} {snack:s} for <b> each|the "
            "guests bought {a} {snack:s} at <b> each]",
            Calc("*", "a", "b", "the {snack:s} bring @", "$"),
            Calc("+", "p", "r1", SUM, "$"),
        ),
        move(
            "gift",
            "a:15-90",
            "[a visitor donated <a>|{S} donated <a>|the mayor gave <a>|a local shop added <a>]",
            Calc("+", "p", "a", SUM, "$"),
        ),
        move(
            "cost",
            "a:part",
            "[the hall cost <a>|{S} had to pay <a> for the hall|the lights cost <a>|the "
            "costumes cost <a>|the band was paid <a>]",
            Calc("-", "p", "a", "[that leaves|after this there is|what is left is] @", "$"),
            ask="how much money [is|was] left",
        ),
    ),
    endings=(
        move(
            "split",
            "a:div",
            "the money was [shared|divided|split] equally [among|between] {a} [clubs|classes|"
            "charities|groups]",
            Calc("/", "p", "a", "each of them [gets|receives] @", "$"),
            ask="how much did each [one|of them] [get|receive]",
        ),
        fact(
            "goal",
            "a:over",
            "{S} had hoped for <a>",
            Calc(
                "-", "a", "p", "[the missing amount is|that is less by|it falls short by] @", "$"
            ),
            ask="how much money is [missing|lacking]",
        ),
        fact(
            "buy",
            "a:div",
            "a new [chair|costume|drum|lamp] costs <a>",
            Calc("/", "p", "a", "[they|{S} and the others] can buy @ of them", "of them"),
            ask="how many of them can be bought [with the money|from the money]",
        ),
    ),
    hi=900,
    slots={"snack": "drink, sandwich, program, bag of nuts, slice of cake"},
    noise=(
        move("noise-time", "c:40-95", "the {item} lasted {c} minutes", event=False),
        move("noise-seats", "c:5-30", "the hall has {c} rows of seats", event=False),
    ),
)

STALL = Family(
    "stall",
    "candle, bar of soap, basket, bracelet, pot, toy boat, pillow, wooden spoon, greeting card, "
    "mug",
    "how much [money did {S} make|did {S} earn|profit did {S} make] [in the end|in total|that "
    "day]",
    kept="how much [money does {S} have left|is left for {S}|profit did {S} make] [in the end|"
    "after all this|now]",
    openings=(
        move(
            "sold",
            "a:6-60 b:3-9",
            "{S} sold {a} {items} [at the market |at a fair |]for <b> each",
            Calc("*", "a", "b", "[{S} [takes in|gets|earns]|the {items} bring] @", "$"),
        ),
        move(
            "days",
            "a:3-7 b:20-95",
            "{S} sold {items} worth <b> [a day for {a} days|on each of {a} days]",
            Calc("*", "a", "b", "[{S} [takes in|gets|earns]|the {items} bring] @", "$"),
        ),
        move(
            "two",
            "a:25-95 b:25-95",
            "{S} sold {items} for <a> on Saturday and for <b> on Sunday",
            Calc("+", "a", "b", "[{S} [takes in|gets|earns]|both days bring] @", "$"),
        ),
    ),
    moves=(
        move(
            "fee",
            "a:5-30",
            "{S} [paid <a> for the table|had to pay <a> for the stall|paid a fee of <a>|gave "
            "{F} <a> for helping|spent <a> on gas]",
            Calc("-", "p", "a", KEEPS, "$"),
        ),
        move(
            "stuff",
            "a:3-9 b:2-8",
            "{S} [bought {a} bags of material for <b> each|spent <b> each on {a} tools|needed "
            "{a} boxes that cost <b> each]",
            Calc("*", "a", "b", "[these costs are|the costs are|that costs] @", "$"),
            Calc("-", "p", "r1", KEEPS, "$"),
        ),
        move(
            "also",
            "a:4-30 b:2-9",
            "{S} [also sold {a} {jar:s} for <b> each|sold {a} {jar:s} at <b> each]",
            Calc("*", "a", "b", "the {jar:s} bring @", "$"),
            Calc("+", "p", "r1", OWNS, "$"),
        ),
        move(
            "tip",
            "a:4-40",
            "[a customer gave {o} an extra <a>|{F} paid {o} back <a>|{S} [earned another <a>|"
            "made <a> more] by [singing|painting signs|helping others]]",
            Calc("+", "p", "a", OWNS, "$"),
        ),
    ),
    endings=(
        move(
            "split",
            "a:div",
            "{S} shared the money equally [with friends, so that {a} people got a part|among "
            "the {a} helpers|among {a} helpers]",
            Calc("/", "p", "a", "each of them [gets|receives] @", "$"),
            ask="how much did each [one|of them] [get|receive]",
        ),
        fact(
            "goal",
            "a:over",
            "{S} [wants|needs] <a> for a new [oven|tent|cart|machine]",
            Calc("-", "a", "p", "{S} [still needs|is missing|has to earn] @", "$"),
            ask="how much money does {S} still need",
        ),
        fact(
            "last",
            "a:part",
            "last [month|week|year] {S} made <a> less",
            Calc("-", "p", "a", "at that time {S} made @", "$"),
            ask="how much did {S} make back then",
        ),
    ),
    hi=900,
    slots={"jar": "jar of jam, bag of tea, bottle of juice, bunch of flowers"},
    noise=(move("noise-hours", "c:3-9", "the market was open for {c} hours", event=False),),
)

FAMILIES = (PAY, TICKETS, STALL)
