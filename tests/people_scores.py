"""Scores of people with their own rows and with those of others, for tests: mostly ties."""

from hypothesis import strategies as st

IMPOSSIBLE = 10_000 * 2**40
"""What a slot that cannot happen costs on the grid of scores: more than floats count singly."""

TIED = (-IMPOSSIBLE - 1, -IMPOSSIBLE, -1, 0, 1, 3, IMPOSSIBLE, IMPOSSIBLE + 1)
"""Few values, so that there are ties; some are equal as floats, and are not."""


@st.composite
def scores(draw, *, least=1, most=8, values=TIED):
    """A score for each person, and a few with others."""
    people, others = draw(st.integers(least, most)), draw(st.integers(1, 4))
    value = st.sampled_from(values)
    mated = draw(st.lists(value, min_size=people, max_size=people))
    row = st.lists(value, min_size=others, max_size=others)
    return mated, draw(st.lists(row, min_size=people, max_size=people))
