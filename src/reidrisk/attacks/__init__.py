"""Attacks: what an attacker makes of what it saw."""
