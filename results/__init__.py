"""Records, run folders, statistics, tables and plots. Imports no torch; plots live in
`results.plots`, which alone imports matplotlib."""

from results.records import SCHEMA, ExtractedBy, Finish, Forwards, SampleKey, SampleRecord
from results.store import RunStore, StoredRun, read_run
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
    "summarise",
    "write_summary",
]
