"""Stories about points scored and about minutes spent."""

from __future__ import annotations

from tasks.embedded.endings import THINGS, daily, goal, running_total, summed
from tasks.embedded.story import Calc, Family, fact, move

POINTS = Family(
    "points",
    "point",
    "how many points did {S} [score|have|get] [in all|in total|in the end|altogether]",
    kept="how many points does {S} [have|end up with|have left] [now|in the end|after this|then]",
    openings=(
        move(
            "games",
            "a:3-9 b:6-30",
            "{S} scored {b} points [in each of {a} games|a game in {a} games|per game in {a} "
            "games]",
            *daily("scored"),
        ),
        move(
            "first",
            "a:8-80",
            "{S} [scored|got|made|won] {a} points in the first [game|half|round|match]",
        ),
        move(
            "shots",
            "a:4-20 b:2-3",
            "{S} [made|scored] {a} shots worth {b} points each",
            *daily("scored"),
        ),
    ),
    moves=(
        move(
            "next",
            "a:5-60",
            "{S} [scored|got|made] [{a} more points|{a} points] in the [second|next|last] [game|"
            "half|round]",
            *summed("scored"),
        ),
        move(
            "goals",
            "a:3-9 b:2-10",
            "{S} [won|solved|finished] {a} [bonus rounds|extra tasks|puzzles] for {b} points each",
            Calc(
                "*",
                "a",
                "b",
                "these [give|bring] @ points",
                THINGS,
            ),
            Calc("+", "p", "r1", running_total("scored"), THINGS),
        ),
        move(
            "penalty",
            "a:2-20",
            "{S} [lost {a} points for a foul|had {a} points taken away|was fined {a} points|got "
            "a penalty of {a} points|lost {a} points for being late]",
            Calc("-", "p", "a", "[{S} has|there are|that leaves] @ points", THINGS),
        ),
        move(
            "double",
            "",
            "{S} [doubled {his} score|drew a card that doubled {his} points|got twice as many "
            "points by a lucky card|doubled the score in a bonus round]",
            Calc("*", "p", "2", running_total("scored"), THINGS),
        ),
    ),
    endings=(
        fact(
            "lead",
            "a:part",
            "{F} scored {a} points [in the same time|in those games|at the same event]",
            Calc("-", "p", "a", "{S} [is ahead by|has a lead of|wins by] @ points", THINGS),
            ask="by how many points did {S} [beat {F}|win|lead]",
        ),
        goal(
            "{S} needs {a} points to [win a prize|reach the next level|get a medal|set a record]",
            "how many more points does {S} need",
            "{S} [needs|still needs] @ more points",
        ),
        fact(
            "team",
            "a:k",
            "{S's} team ended with {a:x} as many points as {N}",
            Calc("*", "p", "a", "the team [ended with|has] @ points", THINGS),
            ask="how many points did the team end with",
        ),
        move(
            "prize",
            "a:div",
            "{S} [traded the points for prizes|used all points to get prizes] that cost {a} "
            "points each",
            Calc("/", "p", "a", "{S} [gets|can get] @ prizes", "prizes"),
            ask="how many prizes did {S} get",
        ),
    ),
    hi=500,
    noise=(
        move("noise-shirt", "c:3-40", "{S} wears the number {c}", event=False),
        move("noise-fans", "c:20-95", "{c} people watched", event=False),
    ),
)

MINUTES = Family(
    "minutes",
    "minute",
    "how many minutes did {S} spend [on this|on all of it] [in all|in total|altogether]",
    openings=(
        move(
            "daily",
            "a:3-9 b:8-45",
            "{S} practiced the {skill} for {b} minutes [a day on {a} days|on each of {a} days|"
            "every day for {a} days]",
            *daily("practices"),
        ),
        move(
            "first",
            "a:15-90",
            "{S} [spent {a} minutes on homework|practiced the {skill} for {a} minutes|worked in "
            "the yard for {a} minutes|cleaned the house for {a} minutes]",
        ),
        move(
            "tasks",
            "a:3-9 b:4-20",
            "{S} [solved {a} problems in {b} minutes each|wrote {a} letters that took {b} "
            "minutes each|fixed {a} chairs in {b} minutes each]",
            Calc("*", "a", "b", "[that takes|{S} needs] @ minutes", THINGS),
        ),
    ),
    moves=(
        move(
            "more",
            "a:10-75",
            "{S} [read for {a} minutes|spent {a} minutes [on a report|in the kitchen]|trained "
            "for another {a} minutes|worked for {a} more minutes]",
            Calc("+", "p", "a", running_total("spent"), THINGS),
        ),
        move(
            "each",
            "a:2-6 b:3-15",
            "{S} [washed {a} windows in {b} minutes each|made {a} phone calls of {b} minutes "
            "each|painted {a} signs in {b} minutes each]",
            Calc("*", "a", "b", "that takes @ minutes", THINGS),
            Calc("+", "p", "r1", running_total("spent"), THINGS),
        ),
        move(
            "twice",
            "a:k",
            "{S} [spent {a:x} as long on cooking as on all of that|needed {a:x} as much time to "
            "tidy up as for all of that|spent {a:x} all that time on a walk]",
            Calc("*", "p", "a", "[this|that] takes @ minutes", THINGS),
            Calc("+", "p", "r1", running_total("spent"), THINGS),
        ),
    ),
    endings=(
        goal(
            "{S} had {a} minutes [for everything|in all|before the bus left|until dinner]",
            "how many minutes [are|were] left",
            "{S} has @ minutes left",
        ),
        fact(
            "less",
            "a:part",
            "{F} did [the same|all of it] {a} minutes faster",
            Calc("-", "p", "a", "{F} [needs|takes] @ minutes", THINGS),
            ask="how many minutes did {F} need",
        ),
        fact(
            "parts",
            "a:div",
            "{S} [plans to do all of it again, spread evenly over {a} days|will do all of it "
            "once more, spread equally over {a} days]",
            Calc("/", "p", "a", "that is @ minutes a day", THINGS),
            ask="how many minutes will that be per day",
        ),
    ),
    hi=600,
    slots={"skill": "piano, violin, guitar, flute, drums, trumpet"},
    noise=(move("noise-class", "c:5-28", "there are {c} students in {N}'s class", event=False),),
)

FAMILIES = (POINTS, MINUTES)
