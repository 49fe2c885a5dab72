"""Speed, as ratios in one run: `python -m benchmarks NAME ...`; `make bench` writes RESULTS.md."""
