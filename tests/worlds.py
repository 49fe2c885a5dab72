"""Small random worlds for Hypothesis."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st


@st.composite
def matrices(draw, users=(1, 5), representations=(1, 5), *, zeros=True):
    """Rows that sum to 1 up to rounding: weights with many ties, zeros and tiny values."""
    rows = draw(st.integers(*users))
    columns = draw(st.integers(*representations))
    weight = st.one_of(
        st.sampled_from([0, 1, 1, 2, 3] if zeros else [1, 1, 2, 3]),
        st.floats(min_value=1e-12, max_value=1, allow_subnormal=False),
    )
    weights = draw(
        st.lists(
            st.lists(weight, min_size=columns, max_size=columns).filter(any),
            min_size=rows,
            max_size=rows,
        )
    )
    array = np.array(weights, dtype=np.float64)
    return array / array.sum(axis=1, keepdims=True)


def layouts(array):
    """The same matrix in every layout that has code of its own."""
    return {"rows": np.ascontiguousarray(array), "columns": np.asfortranarray(array),
            "sparse": sp.csr_array(array)}  # fmt: skip
