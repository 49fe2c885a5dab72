"""Speed, as ratios in one run: `python -m benchmarks`, or with a name for one of them."""
