"""Strategies of the local engine, one file each; `plan` chooses among them.

Each file lists in `PLAN` which questions it answers and what they cost: `Search`, `Evidence` or
`PatternCount` of `reidrisk.engines.cost_model`. The plan finds a new file; nothing else names it.
"""
