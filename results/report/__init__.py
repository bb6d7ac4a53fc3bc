"""One page, tables and plots of finished runs: runs.py reads them, page.py makes the page,
files.py writes everything."""
