"""Subjects about words: plurals, past forms, opposites, synonyms, numbers of other languages."""

from __future__ import annotations

from tasks.embedded.mmlu.subject import Direction, Subject, facts, grouped

PLURALS = Subject(
    name="plural_nouns",
    topic="plurals",
    facts=facts("""
        mouse: mice, child: children, foot: feet, tooth: teeth, goose: geese, man: men,
        woman: women, ox: oxen, leaf: leaves, knife: knives, wolf: wolves, city: cities,
        box: boxes, baby: babies, potato: potatoes, cactus: cacti, wife: wives, half: halves,
        loaf: loaves, thief: thieves, louse: lice, fly: flies, dish: dishes, hero: heroes
    """),
    forward=Direction(
        questions=(
            "[What|Which] is the plural [form |]of '{x}'?",
            "[How does one say|What is] '{x}' in the plural?",
            "One {x}, two [of what|what]?",
            "[Name|Pick|Find] the plural [form |]of '{x}'.",
        ),
        says="The plural of '{x}' is {y}.",
    ),
    backward=Direction(
        questions=(
            "'{y}' is the plural of [which word|what]?",
            "[Which|What] is the singular [form |]of '{y}'?",
            "[Name|Pick|Find] the [singular of|word with the plural] '{y}'.",
        ),
        says="The singular of '{y}' is {x}.",
    ),
)

PAST = Subject(
    name="past_tense",
    topic="past forms of verbs",
    facts=facts("""
        go: went, see: saw, eat: ate, run: ran, write: wrote, take: took, give: gave, come: came,
        buy: bought, think: thought, teach: taught, catch: caught, bring: brought, swim: swam,
        drink: drank, sing: sang, fly: flew, know: knew, speak: spoke, break: broke, drive: drove,
        sleep: slept, find: found, make: made
    """),
    forward=Direction(
        questions=(
            "[What|Which] is the past [tense |form ]of '{x}'?",
            "Today I {x}; yesterday I [did what|what]?",
            "[How is|What is] '{x}' in the past [tense|form]?",
            "[Name|Pick|Find] the past [form |tense |]of '{x}'.",
        ),
        says="The past of '{x}' is {y}.",
    ),
    backward=Direction(
        questions=(
            "'{y}' is the past [tense |form ]of which verb?",
            "[Which|What] verb has the past form '{y}'?",
            "[Name|Pick|Find] the verb [with|of] the past form '{y}'.",
        ),
        says="The verb with the past '{y}' is {x}.",
    ),
)

ANTONYMS = Subject(
    name="antonyms",
    topic="opposites",
    facts=facts("""
        hot: cold, big: small, fast: slow, happy: sad, old: young, rich: poor, wet: dry,
        full: empty, early: late, high: low, long: short, loud: quiet, clean: dirty, strong: weak,
        sharp: blunt, wide: narrow, deep: shallow, open: closed, true: false, cheap: expensive,
        brave: cowardly, ugly: beautiful
    """),
    forward=Direction(
        questions=(
            "[What|Which word|Which] is the [exact |]opposite of '{x}'?",
            "[What|Which word] means the opposite of '{x}'?",
            "If a thing is not {x} [at all|in the least], what is it?",
            "[Name|Pick|Find] the [opposite|contrary] of '{x}'.",
        ),
        says="The opposite of '{x}' is {y}.",
    ),
    backward=Direction(
        questions=(
            "'{y}' is the opposite of [what|which word]?",
            "[What|Which word] has '{y}' as its [opposite|contrary]?",
            "[Name|Pick|Find] the word with the opposite '{y}'.",
        ),
        says="The word whose opposite is '{y}' is {x}.",
    ),
)

SYNONYMS = Subject(
    name="synonyms",
    topic="words of the same meaning",
    facts=facts("""
        begin: start, big: large, buy: purchase, end: finish, fast: quick, gift: present,
        help: assist, below: beneath, sick: ill, smart: clever, speak: talk, glad: happy,
        angry: furious, hard: difficult, road: street, tale: story, rock: stone, ocean: sea,
        odd: strange, choose: select, error: mistake, sofa: couch, rich: wealthy, scared: afraid
    """),
    forward=Direction(
        questions=(
            "[What|Which word] means [almost |]the same as '{x}'?",
            "[What|Which word] is a synonym [of|for] '{x}'?",
            "[What|Which word] can stand in for '{x}'?",
            "[Name|Pick|Find] a [synonym|word] for '{x}'.",
        ),
        says="Another word for '{x}' is {y}.",
    ),
    backward=Direction(
        questions=(
            "'{y}' is another word for [what|which of these]?",
            "'{y}' has the [same meaning|sense] of [what|which word]?",
            "[Name|Pick|Find] the word that '{y}' can [replace|stand for].",
        ),
        says="'{y}' is another word for {x}.",
    ),
)

FOREIGN_NUMBERS = Subject(
    name="foreign_number_words",
    topic="numbers of other languages in English",
    facts=grouped("""
        one: uno, eins; two: dos, deux, zwei; three: tres, trois, drei;
        four: cuatro, quatre, vier; five: cinco, cinq; six: seis, sechs;
        seven: siete, sept, sieben; eight: ocho, huit, acht; nine: nueve, neuf, neun;
        ten: diez, dix, zehn
    """),
    forward=Direction(
        questions=(
            "[What|Which number|Which] is '{x}' [in English|when translated]?",
            "[What|Which number] does '{x}' [mean|stand for]?",
            "How [does one say|do you say] '{x}' in English?",
            "[Name|Pick|Find] the [meaning of|English for] '{x}'.",
        ),
        says="The number '{x}' is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|Which word] [means|is a foreign word for] the number {y}?",
            "[Name|Pick|Find] a [foreign|different] word for the number {y}.",
        ),
        says="A foreign word for {y} is {x}.",
    ),
)

SUBJECTS = (PLURALS, PAST, ANTONYMS, SYNONYMS, FOREIGN_NUMBERS)
