"""Attack: compare numbers and dates by how far they are apart, for how exact each column is."""

from reidrisk.attacks.nearest_numbers.attack import NearestNumbers

__all__ = ["NearestNumbers"]
