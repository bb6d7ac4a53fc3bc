"""Command line, run configuration, wiring and timing."""
