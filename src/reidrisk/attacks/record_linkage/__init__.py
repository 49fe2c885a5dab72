"""Attack: compare the values of columns as record linkage does, by how similar they are."""

from reidrisk.attacks.record_linkage.attack import RecordLinkage

__all__ = ["RecordLinkage"]
