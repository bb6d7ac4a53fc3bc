"""Probabilities with dice, coins and marbles, as fractions."""

from __future__ import annotations

import random
from math import comb

from tasks.embedded.math500.family import COUNTING, Family, Work, whole, worked
from tasks.embedded.math500.notation import added, divided, lowest, multiplied, over, reduced
from tasks.embedded.math500.phrases import FIND


def _die(rng: random.Random) -> Work:
    faces = whole(rng, 6, 20)
    low = whole(rng, 2, faces - 2)
    steps = (
        f"There are ${added(faces, -low)}$ such numbers.",
        f"The probability is ${reduced(faces - low, faces)}$.",
    )
    return worked((faces, low), lowest(faces - low, faces), *steps, n=faces, k=low)


def _marble(rng: random.Random) -> Work:
    red, blue = whole(rng, 2, 12), whole(rng, 2, 12)
    steps = (
        f"There are ${added(red, blue)}$ marbles.",
        f"The probability is ${reduced(red, red + blue)}$.",
    )
    return worked((red, blue), lowest(red, red + blue), *steps, a=red, b=blue)


def _two_marbles(rng: random.Random) -> Work:
    red, blue = whole(rng, 2, 6), whole(rng, 2, 6)
    every = red + blue
    top, bottom = red * (red - 1), every * (every - 1)
    steps = (
        f"There are ${added(red, blue)}$ marbles.",
        rf"The chances are ${over(red, every)}$ and then ${over(red - 1, every - 1)}$.",
        f"${multiplied(red, red - 1)}$ and ${multiplied(every, every - 1)}$.",
        f"The probability is ${reduced(top, bottom)}$.",
    )
    return worked((red, blue), lowest(top, bottom), *steps, a=red, b=blue)


def _coins(rng: random.Random) -> Work:
    flips = whole(rng, 3, 7)
    heads = whole(rng, 1, 2)
    ways, every = comb(flips, heads), 2**flips
    chosen = (
        f"There are ${ways}$ ways to choose the flip."
        if heads == 1
        else f"${multiplied(flips, flips - 1)}$ and ${divided(flips * (flips - 1), 2)}$ ways."
    )
    steps = (
        f"There are $2^{flips} = {every}$ outcomes.",
        chosen,
        f"The probability is ${reduced(ways, every)}$.",
    )
    return worked((flips, heads), lowest(ways, every), *steps, n=flips, k=heads)


def _dice_sum(rng: random.Random) -> Work:
    faces = whole(rng, 4, 12)
    wanted = whole(rng, 3, faces + 1)
    steps = (
        f"There are ${multiplied(faces, faces)}$ outcomes.",
        f"The first die can show $1$ to ${added(wanted, -1)}$.",
        f"The probability is ${reduced(wanted - 1, faces * faces)}$.",
    )
    return worked((faces, wanted), lowest(wanted - 1, faces * faces), *steps, n=faces, s=wanted)


DIE = (
    "A fair [die|top] has [faces|sides] numbered $1$ to $<n>$. [Find|What is] the probability"
    " of [a number greater|more] than $<k>$.",
    "A number from $1$ to $<n>$ is [picked|chosen|drawn] at random. [Find|What is] the"
    " [probability|chance] that it is [greater|larger] than $<k>$.",
    "[Cards|Balls|Tickets] are numbered $1$ to $<n>$. One is drawn[| at random]. [Find|What is]"
    " the"
    " probability that its number exceeds $<k>$.",
)
MARBLE = (
    "A [bag|box|jar] [holds|contains|has] $<a>$ red and $<b>$ blue [marbles|balls]. One is"
    " drawn[| at random]. [Find|What is] the probability that it is red.",
    f"{FIND} the probability of [drawing|picking] a red marble from a [bag|box|jar] with $<b>$"
    " blue"
    " and $<a>$ red marbles.",
    "There are $<b>$ blue and $<a>$ red [marbles|chips|balls] in a [bag|box]. What is the"
    " [probability|chance] that a random one is red?",
)
TWO_MARBLES = (
    "A [bag|box|jar] [holds|contains|has] $<a>$ red and $<b>$ blue [marbles|balls]. Two are drawn"
    " [without replacement|together]. [Find|What is] the probability that both are red.",
    f"{FIND} the probability that two [marbles|balls] drawn [without replacement|together] from"
    " $<a>$ red and $<b>$ blue ones are both red.",
    "There are $<b>$ blue and $<a>$ red [marbles|chips|balls] in a [bag|box]. Two are taken. What"
    " is the [probability|chance] that both are red?",
)
COINS = (
    "A fair coin is [flipped|tossed] $<n>$ times. [Find|What is|Compute] the [probability|chance]"
    " of exactly $<k>$ [heads|tails].",
    f"{FIND} the probability of exactly $<k>$ [heads|tails] in $<n>$ [flips|tosses] of a fair"
    " coin.",
    "[If|When] $<n>$ fair coins are [flipped|tossed], what is the [probability|chance] that"
    " exactly"
    " $<k>$ show [heads|tails]?",
)
DICE_SUM = (
    "Two fair dice [have faces|are] numbered $1$ to $<n>$. [Find|What is|Compute] the"
    " [probability|chance] that the sum is $<s>$.",
    "Two fair $<n>$-sided dice are [rolled|thrown]. [Find|What is] the [probability|chance] that"
    " [they add up to|their sum is] $<s>$.",
    f"{FIND} the probability of [a sum of|a total of] $<s>$ with two fair $<n>$-sided dice.",
)

FAMILIES = (
    Family("die", COUNTING, 2, DIE, _die),
    Family("marble", COUNTING, 2, MARBLE, _marble),
    Family("two_marbles", COUNTING, 5, TWO_MARBLES, _two_marbles),
    Family("coins", COUNTING, 4, COINS, _coins),
    Family("dice_sum", COUNTING, 4, DICE_SUM, _dice_sum),
)
