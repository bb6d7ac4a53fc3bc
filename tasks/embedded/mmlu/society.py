"""Subjects about people's work and play: tools, inventors, authors, music, sports, products."""

from __future__ import annotations

from tasks.embedded.mmlu.subject import Direction, Subject, facts, grouped

TOOLS = Subject(
    name="tools_of_trades",
    topic="tools of trades",
    facts=facts("""
        carpenter: saw, barber: razor, farmer: tractor, photographer: camera,
        baker: oven, fisherman: fishing rod, astronomer: telescope, biologist: microscope,
        doctor: stethoscope, tailor: sewing needle, miner: pickaxe, lumberjack: axe,
        firefighter: hose, blacksmith: anvil, conductor: baton, potter: wheel, cowboy: lasso,
        knight: sword, teacher: blackboard, judge: gavel, painter: brush
    """),
    forward=Direction(
        questions=(
            "[What|Which tool] is typical of a {x}?",
            "[What|Which tool] does a {x} [typically|usually] work with?",
            "A {x} [at work|on the job] is often seen with [what|which tool]?",
            "[Name|Pick|Find] the tool of [a|the] {x}.",
        ),
        says="The tool of a {x} is the {y}.",
    ),
    backward=Direction(
        questions=(
            "[Who|Which of these] [typically|usually] works with the {y}?",
            "The {y} is the typical tool of [whom|which trade]?",
            "[Name|Pick|Find] the [one|person] who works with the {y}.",
        ),
        says="The {y} is the tool of a {x}.",
    ),
)

INVENTORS = Subject(
    name="inventors",
    topic="inventors and discoverers",
    facts=grouped("""
        Bell: the telephone; Edison: the phonograph; Gutenberg: the printing press;
        the Wright brothers: the airplane; Nobel: dynamite; Berners-Lee: the World Wide Web;
        Fleming: penicillin; Sax: the saxophone; Franklin: the lightning rod;
        Diesel: the diesel engine; Jenner: the smallpox vaccine; Salk: the polio vaccine;
        Pasteur: the rabies vaccine; Rubik: the Rubik's Cube; Morse: Morse code;
        Torvalds: Linux; Einstein: the theory of relativity; Darwin: natural selection;
        Newton: the law of gravity; Otis: the safety elevator; Naismith: basketball;
        Torricelli: the mercury barometer; Roentgen: X-rays; Marie Curie: radium
    """),
    forward=Direction(
        questions=(
            "[Who|Which of these people] [gave the world|is known for] {x}?",
            "[Who|Which person] is [behind|famous for] {x}?",
            "To whom [does the world owe|do we owe] {x}?",
            "[Name|Pick|Find] the [person|name] behind {x}.",
        ),
        says="The name behind {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "What did {y} [give the world|become famous for]?",
            "The name of {y} stands for [which idea|what]?",
            "[Name|Pick|Find] the [work|idea] of {y}.",
        ),
        says="The work of {y} is {x}.",
    ),
)

AUTHORS = Subject(
    name="authors",
    topic="books and their authors",
    facts=facts("""
        Hamlet: Shakespeare, Don Quixote: Cervantes, War and Peace: Tolstoy, Oliver Twist: Dickens,
        Pride and Prejudice: Jane Austen, the Odyssey: Homer, Frankenstein: Mary Shelley,
        Dracula: Bram Stoker, Moby-Dick: Melville, Faust: Goethe, The Hobbit: Tolkien,
        The Divine Comedy: Dante, Les Miserables: Victor Hugo, Animal Farm: Orwell,
        Peter Pan: Barrie, Treasure Island: Stevenson, The Jungle Book: Kipling,
        Ulysses: James Joyce, Robinson Crusoe: Defoe, Candide: Voltaire,
        Gulliver's Travels: Swift, Jane Eyre: Charlotte Bronte
    """),
    forward=Direction(
        questions=(
            "Who [wrote|is the author of] {x}?",
            "[Which author|Which writer] [wrote|is known for] {x}?",
            "{x} is a work [by whom|of which author]?",
            "[Name|Pick|Find] the [author|writer] of {x}.",
        ),
        says="The author of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which work] was written by {y}?",
            "{y} is the author of [what|which work]?",
            "[Name|Pick|Find] a [work|book] by {y}.",
        ),
        says="A work by {y} is {x}.",
    ),
)

MUSIC = Subject(
    name="musical_instruments",
    topic="families of musical instruments",
    facts=grouped("""
        strings: violin, cello, harp, guitar, viola; brass: trumpet, trombone, tuba, bugle;
        woodwinds: flute, clarinet, oboe, bassoon, piccolo; voices: soprano, tenor, baritone;
        percussion: drum, cymbal, tambourine, gong; keyboards: church organ, synthesizer
    """),
    forward=Direction(
        questions=(
            "[Which|What] family does the {x} [belong to|come from]?",
            "The {x} is [counted among|one of] [what|which family]?",
            "[To|In] which group of musicians does the {x} belong?",
            "[Name|Pick|Find] the family [of|with] the {x}.",
        ),
        says="The {x} belongs to the {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] is [counted among|part of] the {y}?",
            "[Name|Pick|Find] one of the {y}.",
        ),
        says="Part of the {y} is the {x}.",
    ),
)

SPORTS = Subject(
    name="sports_terms",
    topic="terms of sports",
    facts=facts("""
        home run: baseball, touchdown: American football, slam dunk: basketball, checkmate: chess,
        hole in one: golf, wicket: cricket, scrum: rugby, deuce: tennis, puck: ice hockey,
        knockout: boxing, butterfly stroke: swimming, pole vault: athletics,
        balance beam: gymnastics, shuttlecock: badminton, spare: bowling, peloton: cycling,
        slalom: skiing, pit stop: motor racing, jockey: horse racing, oar: rowing, ippon: judo,
        corner kick: soccer, foil: fencing
    """),
    forward=Direction(
        questions=(
            "[In which|In what] sport [is there|does one speak of] a {x}?",
            "The word {x} [belongs to|comes from] [which sport|which game]?",
            "[Where|In which game] does one meet the word {x}?",
            "[Name|Pick|Find] the [sport|game] with the word {x}.",
        ),
        says="The sport with the {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] word [belongs to|is used in] the sport of {y}?",
            "[What|Which of these] is [met|found] in {y}?",
            "[Name|Pick|Find] a word [of|used in] {y}.",
        ),
        says="A word of {y} is {x}.",
    ),
)

COMPUTERS = Subject(
    name="computer_terms",
    topic="short forms of computing",
    facts=facts("""
        CPU: central processing unit, RAM: random access memory, URL: uniform resource locator,
        USB: universal serial bus, GPU: graphics processing unit, OS: operating system,
        PC: personal computer, AI: artificial intelligence, LAN: local area network,
        WWW: World Wide Web, IP: Internet Protocol, IT: information technology,
        SSD: solid state drive, CD: compact disc, ROM: read-only memory,
        GUI: graphical user interface, SQL: structured query language,
        PDF: portable document format, VR: virtual reality
    """),
    forward=Direction(
        questions=(
            "[What|Which term] does {x} [stand for|mean]?",
            "{x} is [short for|the short form of] [what|which term]?",
            "[What|Which term] is [written in short|abbreviated] as {x}?",
            "[Name|Pick|Find] the [meaning|long form] of {x}.",
        ),
        says="The letters {x} stand for {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which] is the [short form|abbreviation] of {y}?",
            "[What|Which letters] [are|stand] for {y}?",
            "[Name|Pick|Find] the [letters|short form] for {y}.",
        ),
        says="The short form of {y} is {x}.",
    ),
)

COLOURS = Subject(
    name="colours_of_things",
    topic="colours of things",
    facts=grouped("""
        yellow: a lemon, a ripe banana, a sunflower; green: grass, spinach, an emerald;
        white: snow, milk, salt; black: coal, a raven; red: blood, a ruby, a ripe strawberry;
        orange: a carrot, a pumpkin; pink: a flamingo; purple: an amethyst, lavender;
        brown: chocolate, bark; blue: a clear sky, a sapphire; grey: an elephant, ash
    """),
    forward=Direction(
        questions=(
            "[What|Which] colour [is|has] {x}?",
            "[What|Which] is the colour of {x}?",
            "{x} has which [colour|of these colours]?",
            "[Name|Pick|Find] the colour [of|to go with] {x}.",
        ),
        says="The colour of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which of these] is [usually |]{y}?",
            "[Name|Pick|Find] [something|a thing] that is {y}.",
        ),
        says="A thing that is {y} is {x}.",
    ),
)

PRODUCTS = Subject(
    name="products_and_sources",
    topic="products and what they are made from",
    facts=grouped("""
        milk: cheese, butter, yoghurt; flour: bread; grapes: wine, raisins; wood: paper;
        sand: glass; nectar: honey; animal skin: leather; eggs: omelettes;
        iron: steel; wax: candles; soybeans: tofu; apples: cider; barley: beer; crude oil: petrol;
        flax: linen; cotton: denim; plums: prunes; cabbage: sauerkraut; tomatoes: ketchup;
        chickpeas: hummus; avocados: guacamole; clay: pottery
    """),
    forward=Direction(
        questions=(
            "[What|Which material] [makes|gives us] {x}?",
            "[What|Which of these] is needed [most|above all] to make {x}?",
            "The [main |]source of {x} is [what|which of these]?",
            "[Name|Pick|Find] the [source|raw material] of {x}.",
        ),
        says="The source of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which product] [is made|comes] from {y}?",
            "[What|Which of these] can be made out of {y}?",
            "[Name|Pick|Find] a [product of|thing made from] {y}.",
        ),
        says="A product of {y} is {x}.",
    ),
)

SUBJECTS = (TOOLS, INVENTORS, AUTHORS, MUSIC, SPORTS, COMPUTERS, COLOURS, PRODUCTS)
