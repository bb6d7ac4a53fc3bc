"""Subjects about nature and its measurement: elements, planets, instruments, units, the body."""

from __future__ import annotations

from tasks.embedded.mmlu.subject import Direction, Subject, facts, grouped

SYMBOLS = Subject(
    name="chemical_symbols",
    topic="chemical symbols",
    facts=facts("""
        hydrogen: H, helium: He, lithium: Li, carbon: C, nitrogen: N, oxygen: O, fluorine: F,
        neon: Ne, sodium: Na, magnesium: Mg, aluminium: Al, silicon: Si, sulfur: S, chlorine: Cl,
        potassium: K, calcium: Ca, iron: Fe, copper: Cu, zinc: Zn, silver: Ag, tin: Sn, gold: Au,
        mercury: Hg, lead: Pb
    """),
    forward=Direction(
        questions=(
            "[What|Which] is the [chemical |]symbol [of|for] {x}?",
            "How [do chemists write|does one write] {x} [in short|in a formula]?",
            "[Name|Pick|Find] the [chemical |]symbol of {x}.",
        ),
        says="The symbol of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] element [has the symbol|is written] {y}?",
            "{y} is the [chemical |]symbol of [which element|what]?",
            "[Name|Pick|Find] the element [with the symbol|written] {y}.",
        ),
        says="The element with the symbol {y} is {x}.",
    ),
)

ATOMIC_NUMBERS = Subject(
    name="atomic_numbers",
    topic="atomic numbers",
    facts=facts("""
        hydrogen: 1, helium: 2, lithium: 3, beryllium: 4, boron: 5, carbon: 6, nitrogen: 7,
        oxygen: 8, fluorine: 9, neon: 10, sodium: 11, magnesium: 12, aluminium: 13, silicon: 14,
        phosphorus: 15, sulfur: 16, chlorine: 17, argon: 18, potassium: 19, calcium: 20, iron: 26,
        copper: 29, silver: 47, gold: 79
    """),
    forward=Direction(
        questions=(
            "[What|Which] is the atomic number of {x}?",
            "[An atom|The nucleus] of {x} has how many protons?",
            "[What number|Which place] does {x} have in the periodic table?",
            "[Name|Pick|Find] the [atomic number|number of protons] of {x}.",
        ),
        says="The atomic number of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] element has [the atomic number|the number] {y}?",
            "{y} is the atomic number of [which element|what]?",
            "[Name|Pick|Find] the element [with|having] the atomic number {y}.",
        ),
        says="The element with the atomic number {y} is {x}.",
    ),
)

ASTRONOMY = Subject(
    name="planets_and_stars",
    topic="planets and stars",
    facts=grouped("""
        Mercury: the smallest planet, the planet nearest the Sun; the Moon: our natural satellite;
        Venus: the hottest planet, the second planet from the Sun; Earth: the planet we live on,
        the third planet from the Sun; Mars: the Red Planet, the fourth planet from the Sun;
        Jupiter: the largest planet, the fifth planet from the Sun; the Sun: our nearest star;
        Saturn: the planet with bright rings, the sixth planet from the Sun;
        Uranus: the seventh planet from the Sun; Neptune: the farthest planet from the Sun,
        the eighth planet from the Sun; Sirius: the brightest star at night;
        Polaris: the North Star; Titan: the largest moon of Saturn
    """),
    forward=Direction(
        questions=(
            "[What|Which|Which of these] [is|is called] {x}?",
            "[How|By which name] is {x} [known|called]?",
            "[What|Which] is the name of {x}?",
            "{x}: which [body|light] in the sky is meant?",
            "[Name|Pick|Find] {x}[| by its name].",
        ),
        says="The name of {x} is {y}.",
    ),
)

INSTRUMENTS = Subject(
    name="measuring_instruments",
    topic="measuring instruments",
    facts=facts("""
        temperature: thermometer, time: clock, length: ruler, weight: scale,
        air pressure: barometer, car speed: speedometer, direction: compass,
        earthquakes: seismograph, wind speed: anemometer, electric current: ammeter,
        voltage: voltmeter, angles: protractor, rainfall: rain gauge, acidity: pH meter,
        altitude: altimeter, distance driven: odometer, humidity: hygrometer,
        radioactivity: Geiger counter, electrical resistance: ohmmeter
    """),
    forward=Direction(
        questions=(
            "[What|Which instrument|Which of these] measures {x}?",
            "[What|Which instrument] is used to measure {x}?",
            "{x} is measured with [what|which instrument]?",
            "[Name|Pick|Find] the instrument [for|measuring] {x}.",
        ),
        says="The instrument for {x} is the {y}.",
    ),
    backward=Direction(
        questions=(
            "What does [a|the] {y} [measure|show]?",
            "[What|Which quantity] is measured with the {y}?",
            "[Name|Pick|Find] what the {y} [measures|shows].",
        ),
        says="The {y} measures {x}.",
    ),
)

UNITS = Subject(
    name="units_of_measure",
    topic="units of measure",
    facts=facts("""
        force: newton, energy: joule, power: watt, voltage: volt, electric current: ampere,
        electrical resistance: ohm, frequency: hertz, temperature: kelvin, pressure: pascal,
        mass: kilogram, length: metre, time: second, electric charge: coulomb,
        luminous intensity: candela, amount of substance: mole, sound level: decibel,
        radioactivity: becquerel, capacitance: farad, digital data: byte, angle: radian
    """),
    forward=Direction(
        questions=(
            "[What|Which] is the unit of {x}?",
            "[What|Which] unit is {x} [given|measured] in?",
            "{x} is [given|measured] in [which|what] unit?",
            "[Name|Pick|Find] the unit [of|for] {x}.",
        ),
        says="The unit of {x} is the {y}.",
    ),
    backward=Direction(
        questions=(
            "The {y} is [a|the] unit of [what|which quantity]?",
            "[What|Which quantity] is [given|stated] in the unit {y}?",
            "[Name|Pick|Find] the quantity [given in|with] the unit {y}.",
        ),
        says="The {y} is the unit of {x}.",
    ),
)

BODY = Subject(
    name="body_parts",
    topic="parts of the body and their work",
    facts=facts("""
        the heart: pumping blood, the lungs: breathing, the brain: thinking, the eyes: seeing,
        the ears: hearing, the teeth: chewing, the tongue: tasting,
        the stomach: digesting food, the kidneys: making urine, the liver: making bile,
        the legs: walking, the hands: grasping, the bladder: storing urine,
        the bones: supporting the body, the vocal cords: making the voice,
        red blood cells: carrying oxygen, white blood cells: fighting infection,
        platelets: stopping bleeding, the pancreas: making insulin
    """),
    forward=Direction(
        questions=(
            "What [is the job of|is the task of] {x}?",
            "[What|Which task] [do we need|does the body need] {x} for?",
            "[What|Which] is the [main |]work of {x}?",
            "[Name|Pick|Find] the [job|task] of {x}.",
        ),
        says="The work of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] part of the body [is for|serves for] {y}?",
            "For {y}[,|] the body needs [what|which part]?",
            "[Name|Pick|Find] the body part [for|in charge of] {y}.",
        ),
        says="The part for {y} is {x}.",
    ),
)

SUBJECTS = (SYMBOLS, ATOMIC_NUMBERS, ASTRONOMY, INSTRUMENTS, UNITS, BODY)
