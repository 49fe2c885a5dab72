"""File formats of the paper's authors."""
