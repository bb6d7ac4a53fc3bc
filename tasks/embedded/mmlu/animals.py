"""Subjects about animals: their groups, young, homes and sounds."""

from __future__ import annotations

from tasks.embedded.mmlu.subject import Direction, Subject, facts, grouped

GROUPS = Subject(
    name="animal_groups",
    topic="groups of animals",
    facts=grouped("""
        birds: eagle, owl, penguin, parrot; mammals: whale, bat, cow, elephant, dolphin;
        fish: shark, salmon, trout, tuna; reptiles: snake, lizard, crocodile, turtle;
        amphibians: frog, toad, newt; insects: ant, bee, beetle, butterfly
    """),
    forward=Direction(
        questions=(
            "[Which|What] group of animals [does the {x} belong to|is the {x} in]?",
            "The {x} [belongs to|is one of] [which group|which animals]?",
            "[Where|In which group] do biologists place the {x}?",
            "[Name|Pick|Find] the group [of|with] the {x}.",
        ),
        says="The {x} belongs to the {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|Which animal] [belongs to|is one of] the {y}?",
            "[What|Which animal] do biologists place among the {y}?",
            "[Name|Pick|Find] one of the {y}.",
        ),
        says="One of the {y} is the {x}.",
    ),
)

YOUNG = Subject(
    name="animal_young",
    topic="young animals",
    facts=facts("""
        dog: puppy, cat: kitten, cow: calf, horse: foal, sheep: lamb, goat: kid, pig: piglet,
        duck: duckling, goose: gosling, swan: cygnet, frog: tadpole, bear: cub, kangaroo: joey,
        deer: fawn, owl: owlet, eagle: eaglet, butterfly: caterpillar, hare: leveret, eel: elver
    """),
    forward=Direction(
        questions=(
            "What is [a young|a baby|the young of a] {x} called?",
            "[What|Which] is the [name|word] for a young {x}?",
            "A {x} was [what|which of these] when it was little?",
            "[Name|Pick|Find] the [name|word] for a young {x}.",
        ),
        says="A young {x} is called a {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which animal|What] does a {y} [become|grow into]?",
            "A {y} is the young of [which animal|what]?",
            "[Name|Pick|Find] the animal that [was once|comes from] a {y}.",
        ),
        says="A {y} grows into a {x}.",
    ),
)

HOMES = Subject(
    name="animal_homes",
    topic="homes of animals",
    facts=facts("""
        bee: hive, bird: nest, spider: web, rabbit: burrow, dog: kennel, horse: stable, lion: den,
        beaver: lodge, pig: sty, snail: shell, sheep: fold, termite: mound,
        goldfish: bowl
    """),
    forward=Direction(
        questions=(
            "[Where|In what] does a {x} [live|have its home]?",
            "What is the [home|house] of a {x} called?",
            "The [home|dwelling] of a {x} is [what|which of these]?",
            "[Name|Pick|Find] the home of [a|the] {x}.",
        ),
        says="The home of a {x} is a {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which animal|What] [lives in|has its home in] a {y}?",
            "A {y} is the home of [which animal|what]?",
            "[Name|Pick|Find] the animal [in|living in] a {y}.",
        ),
        says="The animal whose home is a {y} is the {x}.",
    ),
)

SOUNDS = Subject(
    name="animal_sounds",
    topic="sounds of animals",
    facts=facts("""
        dog: barks, cat: meows, cow: moos, sheep: bleats, horse: neighs, lion: roars,
        duck: quacks, pig: oinks, bee: buzzes, frog: croaks, mouse: squeaks, elephant: trumpets,
        owl: hoots, rooster: crows, donkey: brays, turkey: gobbles, hyena: laughs,
        pigeon: coos, cricket: chirps, goose: honks
    """),
    forward=Direction(
        questions=(
            "[What|Which of these] does a {x} [usually |]do?",
            "[What|Which] is the [usual |]sound of a {x}?",
            "How does a {x} [make itself heard|call out]?",
            "[Name|Pick|Find] what [a|the] {x} does.",
        ),
        says="The {x} {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] animal [usually |]{y}?",
            "[Which of these|Who] is known as an animal that {y}?",
            "[Name|Pick|Find] [an|the] animal that {y}.",
        ),
        says="The animal that {y} is the {x}.",
    ),
)

SUBJECTS = (GROUPS, YOUNG, HOMES, SOUNDS)
