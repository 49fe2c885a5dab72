"""Times as tables write them, against Python's own parser."""

from datetime import datetime

import pytest

from reidrisk.errors import InvalidInput
from reidrisk.io.times import local_moments


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["12/1/2010 8:26", "12/13/2010 18:05"], "%m/%d/%Y %H:%M"),
        (["13/1/2010 8:26:59", "1/12/2010 8:26:00"], "%d/%m/%Y %H:%M:%S"),
        (["01.12.2010", "02.11.2011"], "%d.%m.%Y"),
        (["12.31.2010", "01.02.2011"], "%m.%d.%Y"),
        (["31-12-98", "01-02-11"], "%d-%m-%y"),
        (["1/31/2011, 12:26 AM", "2/1/2011, 12:26 PM"], "%m/%d/%Y, %I:%M %p"),
        # One day and the same month: either order says the same.
        (["3/3/2010", "4/4/2010"], "%d/%m/%Y"),
    ],
)
def test_local_forms_are_read(texts, form):
    wanted = [datetime.strptime(text, form) for text in texts]  # noqa: DTZ007
    assert local_moments(texts, "t.csv") == wanted


@pytest.mark.parametrize(
    "texts",
    [
        [], ["soon"], ["13/13/2010"], ["31/4/2010", "1/5/2010"], ["13/1/2010", "1/13/2010"],
        ["1/12/2010", ""], ["1/13/2010 25:00"], ["1/13/2010 13:00 PM"], ["1.2/2010"], ["1/2/345"],
        ["13/1/2010" + " " * 60 + "8:26"],
    ],
)  # fmt: skip
def test_others_are_no_times(texts):
    assert local_moments(texts, "t.csv") is None


@pytest.mark.parametrize("texts", [["5/6/2011"], ["12/1/2010 8:26", "1/2/2011 8:26"], ["1-2-10"]])
def test_an_order_that_is_open_is_refused(texts):
    with pytest.raises(InvalidInput, match=r"time_format=.%d/%m/%Y") as refused:
        local_moments(texts, "t.csv")
    assert refused.value.code == "ambiguous-times"
    assert texts[0] not in str(refused.value)
