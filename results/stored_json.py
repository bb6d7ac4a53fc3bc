"""JSON of files to which anything may have happened."""

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """ValueError for all that is no JSON, and for what is nested deeper than can be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
