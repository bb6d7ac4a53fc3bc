"""Records, run folders, statistics, tables and plots. Imports no torch; matplotlib is loaded by
what draws alone, through `results.drawing`."""

from results.records import SCHEMA, ExtractedBy, Finish, Forwards, SampleKey, SampleRecord
from results.store import RunStore, StoredRun, read_run, stored_config
from results.summary import SummaryRow, summarise
from results.tables import read_summary, write_summary

__all__ = [
    "SCHEMA",
    "ExtractedBy",
    "Finish",
    "Forwards",
    "RunStore",
    "SampleKey",
    "SampleRecord",
    "StoredRun",
    "SummaryRow",
    "read_run",
    "read_summary",
    "stored_config",
    "summarise",
    "write_summary",
]
