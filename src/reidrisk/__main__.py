"""`python -m reidrisk`: the command line."""

from reidrisk.cli import main

main()
