"""Speed, as ratios in one run: `python -m benchmarks` for all, `python -m benchmarks theory` for one."""
