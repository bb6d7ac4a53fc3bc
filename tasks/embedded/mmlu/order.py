"""Subjects about what comes after what: letters, days, months, hours of the clock."""

from __future__ import annotations

from itertools import pairwise
from string import ascii_uppercase

from tasks.embedded.mmlu.subject import Direction, Fact, Subject

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
DAY_STEPS = range(2, 10)
HOURS = 12

ALPHABET = Subject(
    name="alphabet_order",
    topic="letters and the letters after them",
    facts=tuple(Fact(letter, after) for letter, after in pairwise(ascii_uppercase)),
    forward=Direction(
        questions=(
            "[What|Which] letter comes [right |]after {x}?",
            "[What|Which letter] follows {x} in the alphabet?",
            "In the alphabet, {x} is followed by [what|which letter]?",
            "[Name|Pick|Find] the letter [right |just |]after {x}.",
        ),
        says="After {x} comes {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which] letter comes [right |]before {y}?",
            "[What|Which letter] precedes {y} in the alphabet?",
            "[Name|Pick|Find] the letter [right |just |]before {y}.",
        ),
        says="Before {y} comes {x}.",
    ),
    rule=True,
)

MONTH_ORDER = Subject(
    name="order_of_months",
    topic="months and the months after them",
    facts=tuple(Fact(month, MONTHS[(n + 1) % len(MONTHS)]) for n, month in enumerate(MONTHS)),
    forward=Direction(
        questions=(
            "[What|Which] month [comes|is] [right |]after {x}?",
            "[What|Which month] follows {x} in the year?",
            "{x} is [directly |]followed by [what|which month]?",
            "[Name|Pick|Find] the month [right |just |]after {x}.",
        ),
        says="After {x} comes {y}.",
    ),
    backward=Direction(
        questions=(
            "[What|Which] month comes [right |]before {y}?",
            "[What|Which month] precedes {y} in the year?",
            "[Name|Pick|Find] the month [right |just |]before {y}.",
        ),
        says="Before {y} comes {x}.",
    ),
    rule=True,
)

WEEK = Subject(
    name="days_of_the_week",
    topic="days counted from others",
    facts=tuple(
        Fact(f"{step} days {word} {day}", DAYS[(n + sign * step) % len(DAYS)])
        for step in DAY_STEPS
        for word, sign in (("after", 1), ("before", -1))
        for n, day in enumerate(DAYS)
    ),
    forward=Direction(
        questions=(
            "[What|Which] day [of the week |]is {x}?",
            "[What|Which] [week|]day [do we have|comes|is it] {x}?",
            "{x} is [what|which day]?",
            "[Name|Pick|Find] the day [that is|which comes] {x}.",
        ),
        says="The day {x} is {y}.",
    ),
    rule=True,
    unseen=True,
)

CLOCK = Subject(
    name="clock_hours",
    topic="hours counted from others",
    facts=tuple(
        Fact(f"{step} hours after {hour}", f"{(hour + step - 1) % HOURS + 1} o'clock")
        for step in range(2, HOURS)
        for hour in range(1, HOURS + 1)
    ),
    forward=Direction(
        questions=(
            "[What|Which] [time|hour] [is|comes] {x} o'clock?",
            "[What|Which time] does a clock show {x} o'clock?",
            "{x} o'clock [it is|the time is|we have] [what time|what]?",
            "[Name|Pick|Find] the time [on the clock |]{x} o'clock.",
        ),
        says="The time {x} o'clock is {y}.",
    ),
    rule=True,
    unseen=True,
)

SUBJECTS = (ALPHABET, MONTH_ORDER, WEEK, CLOCK)
