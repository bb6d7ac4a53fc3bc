"""Numbers as tables write them; an undefined one is a dash."""

UNDEFINED = "–"


def number(value: float | None, digits: int = 0, *, scale: float = 1, sign: str = "") -> str:
    """`value` times `scale`; sign: `+` shows it on positive numbers too."""
    return UNDEFINED if value is None else f"{scale * value:{sign}.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    return UNDEFINED if share is None else f"{100 * share:.{digits}f} %"


def p_value(value: float | None) -> str:
    return "<0.001" if value is not None and value < 0.001 else number(value, 3)


def with_interval(
    value: float | None,
    lo: float | None,
    hi: float | None,
    *,
    digits: int,
    scale: float = 1,
    sign: str = "",
) -> str:
    """`0.95 (0.90–1.00)`, or `+1.0 (-0.5 to +2.5)`; the value alone where it has no interval."""
    shown, *ends = (number(each, digits, scale=scale, sign=sign) for each in (value, lo, hi))
    if value is None or lo is None or hi is None:
        return shown
    return f"{shown} ({(' to ' if sign else '–').join(ends)})"
