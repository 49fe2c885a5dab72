"""How often intervals hold the truth, and how wide they are."""

from benchmarks.intervals import differences, means, ranks, strangers, together


def main():
    for part in (means, ranks, differences, strangers, together):
        part.main()
