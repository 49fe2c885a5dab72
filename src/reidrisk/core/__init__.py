"""What every other package stands on: rows, randomness, parallel loops, files and checks."""
