"""Stories about shopping and about saving for something."""

from __future__ import annotations

from tasks.embedded.endings import EARNS, KEEPS, OWES, OWNS
from tasks.embedded.story import Calc, Family, fact, move

SHOPPING = Family(
    "shopping",
    "notebook, pencil case, shirt, scarf, toy, book, plant, mug, puzzle, towel, ball, lamp, hat",
    "how [much|much money|many dollars] did {S} [spend|pay] [in all|in total|altogether]",
    openings=(
        move(
            "buy",
            "a:2-9 b:3-25",
            "{S} bought {a} {items} [for <b> each|at <b> each|that cost <b> each|for <b> apiece]",
            Calc("*", "a", "b", "the {items} [cost|come to] @", "$"),
        ),
        move(
            "two",
            "a:5-60 b:5-60",
            "{S} bought a {item} for <a> and a {other} for <b>",
            Calc(
                "+",
                "a",
                "b",
                "[the two things cost|both cost|that is|the {item} and the {other} cost] @",
                "$",
            ),
        ),
        move(
            "one",
            "a:20-90",
            "{S} [bought a {item} for <a>|paid <a> for a {item}|chose a {item} that cost <a>|"
            "picked a {item} with a price of <a>]",
        ),
    ),
    moves=(
        move(
            "more",
            "a:2-8 b:2-15",
            "{S} [also bought|bought] {a} {pack:s} [for <b> each|at <b> each|that cost <b> each|"
            "for <b> apiece]",
            Calc("*", "a", "b", "the {pack:s} [cost|come to] @", "$"),
            Calc("+", "p", "r1", OWES, "$"),
        ),
        move(
            "single",
            "a:4-60",
            "{S} [also bought|added|took|also chose] a {gift} [for <a>|that cost <a>|with a "
            "price of <a>]",
            Calc("+", "p", "a", OWES, "$"),
        ),
        move(
            "coupon",
            "a:2-15",
            "{S} [used a coupon for <a> off|had a coupon that took <a> off|got <a> off with a "
            "card|paid with a voucher that saved {o} <a>]",
            Calc("-", "p", "a", OWES, "$"),
        ),
        move(
            "percent",
            "a:pct",
            "{S} got a discount of {a:n}% [on everything|on the whole bill|at the till|for "
            "being a regular customer|on the total]",
            Calc("/", "p", "a%", "the discount is @", "$"),
            Calc("-", "p", "r1", OWES, "$"),
        ),
        move(
            "deliver",
            "a:3-12",
            "[delivery cost [another|an extra] <a>|{S} paid <a> [for gift wrapping|for "
            "delivery]|the shop charged <a> for shipping]",
            Calc("+", "p", "a", OWES, "$"),
        ),
        move(
            "return",
            "a:part",
            "{S} [returned one thing and got <a> back|took one thing back and was refunded <a>|"
            "put back something worth <a>]",
            Calc("-", "p", "a", OWES, "$"),
        ),
    ),
    endings=(
        move(
            "change",
            "a:bill",
            "{S} [paid with|handed over|gave the cashier] <a>[| in cash]",
            Calc(
                "-",
                "a",
                "p",
                "[the change is|{S} gets|{S} should get|the cashier returns] @[| back]",
                "$",
            ),
            ask=(
                "how much [change did {S} get|money did {S} get back|change was there|change "
                "should {S} receive]"
            ),
        ),
        move(
            "split",
            "a:div",
            "{S} [and some friends|and {his} family] split the bill equally among {a} people",
            Calc("/", "p", "a", "each [person|of them|one] [pays|has to pay|owes] @", "$"),
            ask="how much [did each person pay|was the share of each person|did each of them pay]",
        ),
        move(
            "had",
            "a:over",
            "{S} had <a> [along|for the trip|in {his} wallet]",
            Calc("-", "a", "p", KEEPS, "$"),
            ask="how much money [does {S} have|is] left",
            event=False,
        ),
    ),
    slots={
        "pack": "pack of paper, box of crayons, bottle of juice, pair of socks, bag of rice",
        "gift": "cap, calendar, backpack, kite, watch, pillow",
    },
    noise=(
        move(
            "noise-shop",
            "c:4-30",
            "[the shop is {c} minutes away|the store has {c} shelves]",
            event=False,
        ),
        move(
            "noise-want",
            "c:20-90",
            "{S} looked at a {gift} for <c> but did not buy it",
            event=False,
        ),
    ),
)

SAVING = Family(
    "saving",
    "bicycle, camera, guitar, tent, telescope, tablet, skateboard, keyboard, drone, sewing "
    "machine",
    "how much money does {S} have [now|in the end|at the end|after that]",
    openings=(
        move(
            "weekly",
            "a:3-9 b:5-40",
            "{S} saved <b> [a week for {a} weeks|every week for {a} weeks|in each of {a} weeks]",
            Calc("*", "a", "b", OWNS, "$"),
        ),
        move(
            "had",
            "a:20-150",
            "{S} [had saved <a>|had <a> in a jar|had put <a> aside|started with <a> in savings]",
        ),
        move(
            "jobs",
            "a:3-9 b:6-20",
            "{S} [mowed {a} lawns|washed {a} cars|cleaned {a} garages|painted {a} fences] for "
            "<b> each",
            Calc("*", "a", "b", EARNS, "$"),
        ),
    ),
    moves=(
        move(
            "gift",
            "a:10-80",
            "[{S's} grandmother gave {o} <a>|{S} got <a> for {his} birthday|{S} [found|received|"
            "was given] <a>[| from an aunt]]",
            Calc("+", "p", "a", OWNS, "$"),
        ),
        move(
            "spent",
            "a:part",
            "{S} [spent <a> on a gift|bought a {gadget} for <a>|paid <a> for a repair|used <a> "
            "to buy lunch for {his} friends|lent {F} <a>]",
            Calc("-", "p", "a", KEEPS, "$"),
        ),
        move(
            "sold",
            "a:2-8 b:4-15",
            "{S} sold {a} old {toy:s} [for <b> each|at <b> each|and got <b> for each]",
            Calc("*", "a", "b", "the {toy:s} bring @", "$"),
            Calc("+", "p", "r1", OWNS, "$"),
        ),
        move(
            "match",
            "",
            "{S's} [parents|grandparents] [doubled the money|doubled {his} savings|gave {o} the "
            "same amount again]",
            Calc("*", "p", "2", OWNS, "$"),
        ),
        move(
            "half",
            "",
            "{S} [gave half of it to charity|spent half of the money on clothes|put half of it "
            "in the bank and kept the rest|used half of it for a trip|spent half of it]",
            Calc("/", "p", "2", KEEPS, "$"),
        ),
        move(
            "snacks",
            "a:2-7 b:2-9",
            "{S} [bought {a} {snack:s} for <b> each|spent <b> a day on {snack:s} for {a} days]",
            Calc("*", "a", "b", "the {snack:s} cost @", "$"),
            Calc("-", "p", "r1", KEEPS, "$"),
        ),
    ),
    endings=(
        fact(
            "need",
            "a:over",
            "{S} wants [to buy a {item} that costs <a>|a {item} for <a>|a {item} with a price "
            "of <a>]",
            Calc("-", "a", "p", "{S} [needs|still needs|has to save|is missing] @[| more]", "$"),
            ask="how much more money does {S} need [to save|for it]",
        ),
        fact(
            "weeks",
            "a:over b:div",
            "{S} wants a {item} that costs <a> and can save <b> [a week|every week|each week]",
            Calc("-", "a", "p", "{S} [needs|still needs|has to save] @[| more]", "$"),
            Calc("/", "r1", "b", "it [takes|will take] @ weeks", "weeks"),
            ask="how many [more |]weeks [will it take|does {S} need|does {S} have to save]",
        ),
        fact(
            "tickets",
            "a:div",
            "[a ticket for the {show} costs <a>|tickets for the {show} cost <a> each|one ticket "
            "for the {show} is <a>]",
            Calc("/", "p", "a", "{S} can [buy|pay for|get] @ tickets", "tickets"),
            ask="how many tickets can {S} [buy|pay for|get]",
        ),
    ),
    slots={
        "gadget": "hat, book, game, ball, shirt, jacket",
        "toy": "toy, game, book, puzzle, movie",
        "snack": "sandwich, drink, apple, magazine",
        "show": "zoo, circus, concert, fair, museum",
    },
    noise=(move("noise-other", "c:10-90", "{F} has saved <c>", event=False),),
)

FAMILIES = (SHOPPING, SAVING)
