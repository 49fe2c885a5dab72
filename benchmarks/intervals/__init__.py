"""How often intervals hold the truth, and how wide they are."""

from benchmarks.intervals import differences, means, ranks, strangers


def main():
    for part in (means, ranks, differences, strangers):
        part.main()
