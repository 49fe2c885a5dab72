"""Re-identification risk, measured."""

__version__ = "0.1.0"
