"""Strategies of the local engine, one file each; `plan` chooses among them.

Each file lists in `PLAN` which questions it answers and what they cost: `Search`, `Evidence` or
`Count` of `reidrisk.engines.cost_model`. A new file is found by the plan, nothing else names it.
"""
