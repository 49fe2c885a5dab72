"""Strategies of search, one a file with its kernels; `reidrisk.engines.plan` chooses among them.

Each file lists in `PLAN` which questions it answers and what they cost: `Search`, `Evidence` or
`Count` of `reidrisk.engines.cost_model`. A new file is found by the plan, nothing else names it.
"""
