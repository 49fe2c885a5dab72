"""Foundations of all packages: rows, randomness, parallel loops, files and checks."""
