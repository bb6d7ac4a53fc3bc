"""Subjects about countries: capitals, money, continents, languages, landmarks."""

from __future__ import annotations

from tasks.embedded.mmlu.subject import Direction, Subject, facts, grouped

CAPITALS = Subject(
    name="world_capitals",
    topic="capital cities",
    facts=facts("""
        France: Paris, Japan: Tokyo, Italy: Rome, Spain: Madrid, Germany: Berlin, Egypt: Cairo,
        Russia: Moscow, China: Beijing, Canada: Ottawa, Australia: Canberra, Peru: Lima,
        Kenya: Nairobi, Greece: Athens, Norway: Oslo, Sweden: Stockholm, Poland: Warsaw,
        Austria: Vienna, Portugal: Lisbon, Ireland: Dublin, Cuba: Havana, Hungary: Budapest,
        Denmark: Copenhagen, Thailand: Bangkok, Finland: Helsinki
    """),
    forward=Direction(
        questions=(
            "[What|Which|Which city] is [now |]the capital [city |]of {x}?",
            "{x} has which [city as its capital|capital city|capital]?",
            "[Where|In which city] is the [government|parliament] of {x}?",
            "[Name|Pick|Find] the capital [city |]of {x}.",
        ),
        says="The capital of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "{y} is the capital [city |]of [which|what] country?",
            "[Which country|What country] has {y} as its capital?",
            "[Name|Pick|Find] the country with the capital {y}.",
        ),
        says="The country whose capital is {y} is {x}.",
    ),
)

CURRENCIES = Subject(
    name="currencies",
    topic="currencies of countries",
    facts=grouped("""
        euro: France, Germany, Spain, Italy; dollar: Canada, Australia, the United States;
        peso: Mexico, Chile, Argentina; rupee: India, Pakistan; pound: Britain, Egypt; yen: Japan;
        yuan: China; ruble: Russia; won: South Korea; franc: Switzerland; real: Brazil;
        zloty: Poland; forint: Hungary; rand: South Africa; baht: Thailand; lira: Turkey
    """),
    forward=Direction(
        questions=(
            "[What|Which] [currency|money] is used in {x}?",
            "[What|Which] is the currency of {x}?",
            "In {x}[,|] people pay in [what|which currency]?",
            "[Name|Pick|Find] the [currency|money] of {x}.",
        ),
        says="The currency of {x} is the {y}.",
    ),
    backward=Direction(
        questions=(
            "[In which country|Where] [is the {y} used|do people pay with the {y}]?",
            "The {y} is the currency of [which country|what country]?",
            "[Name|Pick|Find] a country [with|using] the {y}.",
        ),
        says="The {y} is the currency of {x}.",
    ),
)

CONTINENTS = Subject(
    name="continents",
    topic="continents of countries",
    facts=grouped("""
        Africa: Kenya, Nigeria, Ghana, Morocco, Ethiopia; Asia: Japan, India, China, Vietnam;
        Europe: France, Spain, Poland, Norway, Italy; North America: Canada, Mexico, Cuba, Jamaica;
        South America: Brazil, Peru, Chile, Argentina; Oceania: Australia, New Zealand, Fiji
    """),
    forward=Direction(
        questions=(
            "On [which|what] continent [is|does one find] {x}?",
            "{x} [lies in|belongs to|is part of] which [continent|part of the world]?",
            "[What|Which] is the continent of {x}?",
            "[Name|Pick|Find] the continent [of|with] {x}.",
        ),
        says="{x} lies in {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] country [lies in|is part of|belongs to] {y}?",
            "[Name|Pick|Find] a country in {y}.",
        ),
        says="A country of {y} is {x}.",
    ),
)

LANGUAGES = Subject(
    name="official_languages",
    topic="languages of countries",
    facts=grouped("""
        Spanish: Spain, Mexico, Argentina, Cuba; Portuguese: Brazil, Portugal; German: Germany;
        English: Australia, Jamaica; Arabic: Egypt, Saudi Arabia; French: France; Italian: Italy;
        Greek: Greece; Turkish: Turkey; Polish: Poland; Swedish: Sweden; Japanese: Japan;
        Korean: South Korea; Thai: Thailand; Dutch: the Netherlands; Persian: Iran;
        Icelandic: Iceland; Hungarian: Hungary; Russian: Russia; Romanian: Romania
    """),
    forward=Direction(
        questions=(
            "[What|Which] language is [mainly |]spoken in {x}?",
            "[What|Which] is the [official|main] language of {x}?",
            "People in {x} mostly speak [what|which language]?",
            "[Name|Pick|Find] the [main |]language of {x}.",
        ),
        says="The main language of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[In which country|Where] do people [mainly |mostly |]speak {y}?",
            "{y} is the [main|official] language of which country?",
            "[Name|Pick|Find] a country [whose language is|speaking] {y}.",
        ),
        says="{y} is the main language of {x}.",
    ),
)

LANDMARKS = Subject(
    name="famous_landmarks",
    topic="landmarks and their countries",
    facts=facts("""
        the Eiffel Tower: France, Big Ben: England, the Taj Mahal: India, the Great Wall: China,
        the Colosseum: Italy, the Statue of Liberty: the United States, Machu Picchu: Peru,
        Petra: Jordan, the Great Sphinx: Egypt, the Acropolis: Greece, the Kremlin: Russia,
        the Alhambra: Spain, Angkor Wat: Cambodia, Christ the Redeemer: Brazil,
        the Sydney Opera House: Australia, Mount Fuji: Japan, the Brandenburg Gate: Germany,
        the Hagia Sophia: Turkey, Chichen Itza: Mexico, the Little Mermaid: Denmark,
        the CN Tower: Canada, Table Mountain: South Africa, Mount Kilimanjaro: Tanzania
    """),
    forward=Direction(
        questions=(
            "In [which|what] country [is|stands] {x}?",
            "Where [in the world |][can one visit|does one find] {x}?",
            "To see {x}[,|] one travels to [which country|what country]?",
            "[Name|Pick|Find] the [home |]country of {x}.",
        ),
        says="The country of {x} is {y}.",
    ),
    backward=Direction(
        questions=(
            "[Which|What] [landmark|famous sight] is [found |]in {y}?",
            "[Which|What] can a visitor see in {y}?",
            "[Name|Pick|Find] a [landmark|sight] of {y}.",
        ),
        says="A landmark of {y} is {x}.",
    ),
)

SUBJECTS = (CAPITALS, CURRENCIES, CONTINENTS, LANGUAGES, LANDMARKS)
