# huggingface_hub and pyarrow have no complete type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""A published file from the Hugging Face hub at its pinned revision, or soon the reason why not.

The local cache is looked at first and costs no connection. Asked to be offline (`HF_HUB_OFFLINE`
or `TRANSFORMERS_OFFLINE`), nothing else is tried. Otherwise one request with a short limit finds
out whether the hub can be reached at all: the hub's own client would retry for half a minute.
"""

from __future__ import annotations

import os
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import cast

from tasks.published import HubCopy

OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
ENDPOINT_VARIABLE = "HF_ENDPOINT"
DEFAULT_ENDPOINT = "https://huggingface.co"
#: Name look-up has no limit of its own, so the request runs beside and is waited for this long.
PROBE_S = 1.2


class Unavailable(Exception):
    """Why a file of the hub can't be had; the message completes "…, and …"."""


def fetch(copy: HubCopy) -> Path:
    """The file on this machine, downloaded unless cached; raises Unavailable."""
    cached = check_access(copy)
    if cached is not None:
        return cached
    from huggingface_hub import hf_hub_download

    try:
        found = hf_hub_download(copy.repo, copy.path, revision=copy.revision, repo_type="dataset")
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise Unavailable(f"{copy.repo} can't be downloaded from the hub ({reason})") from error
    return Path(found)


def check_access(copy: HubCopy) -> Path | None:
    """The file where it is cached; None where the hub can be asked; otherwise Unavailable."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError as error:
        raise Unavailable("huggingface_hub is not installed") from error
    cached = try_to_load_from_cache(
        copy.repo, copy.path, revision=copy.revision, repo_type="dataset"
    )
    if isinstance(cached, str):
        return Path(cached)
    offline = [name for name in OFFLINE_VARIABLES if is_set(name)]
    if offline:
        raise Unavailable(
            f"{offline[0]} is set and the Hugging Face hub's cache has no copy of {copy.repo}"
        )
    endpoint = os.environ.get(ENDPOINT_VARIABLE, DEFAULT_ENDPOINT)
    if not reachable(endpoint):
        raise Unavailable(f"the Hugging Face hub ({endpoint}) does not answer")
    return None


def read_parquet(path: Path) -> list[dict[str, object]]:
    """The rows of a parquet file."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise Unavailable("pyarrow, which reads the hub's copy, is not installed") from error
    return cast("list[dict[str, object]]", parquet.read_table(path).to_pylist())


def is_set(name: str) -> bool:
    """Whether an environment variable is switched on, as the hub's own client reads it."""
    return os.environ.get(name, "").strip().upper() in {"1", "ON", "YES", "TRUE"}


def reachable(endpoint: str) -> bool:
    """Whether anything answers there within `PROBE_S`; proxies of the environment are used."""
    answered = threading.Event()

    def ask() -> None:
        request = urllib.request.Request(endpoint, method="HEAD")
        try:
            urllib.request.urlopen(request, timeout=PROBE_S).close()
        except urllib.error.HTTPError:
            pass  # An error page is an answer.
        except (OSError, ValueError):
            return
        answered.set()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PROBE_S)
    return answered.is_set()
