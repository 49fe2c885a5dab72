"""Other packages that answer a question of ours, each question a file, in their own environment.

A file has `QUESTION`, the names of its peers as on PyPI, and `compare(peer, quick)`, which gives
rows. `python -m benchmarks.peers search` runs one; `benchmarks.results` runs all of them.
"""

QUESTIONS = ("search", "two_tables", "leakage", "anonymity", "unicity", "extrapolation")
