"""Names of columns in pairs, as a shell hands them over, and the layouts they become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.snapshots import refuses

from reidrisk.core.settings_syntax import speaking
from reidrisk.io.paired_columns import parse_pairs, two_layouts


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("age", {"age": "age"}),
        ("age,zip", {"age": "age", "zip": "zip"}),
        ("given_name=First name,surname=last", {"given_name": "First name", "surname": "last"}),
        (" age = Age , zip ", {"age": "Age", "zip": "zip"}),
        ('name="Last, first",zip', {"name": "Last, first", "zip": "zip"}),
        ('"a=b"=c', {"a=b": "c"}),
        ("'a,b'='c \"d\"'", {"a,b": 'c "d"'}),
        ('"say ""so"""=b', {'say "so"': "b"}),
        ("mother's name=m", {"mother's name": "m"}),
        ("größe=Größe (cm)", {"größe": "Größe (cm)"}),
        ("1=3,2", {"1": "3", "2": "2"}),
    ],
)
def test_names_are_read_as_a_shell_hands_them_over(text, pairs):
    assert parse_pairs(text) == pairs
    assert list(parse_pairs(text)) == list(pairs)


@pytest.mark.parametrize(
    "text", ["", "a,,b", "a,", "=b", "a=", "a=b=c", '"a', '"a"b', "a,a", "a=b,a=c", "'a,b"]
)
def test_what_names_no_columns_is_refused(text):
    with refuses("invalid-columns"):
        parse_pairs(text)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)


@given(st.dictionaries(NAMES, NAMES, min_size=1))
def test_any_names_in_quotes_come_back(pairs):
    text = ",".join(f"{quoted(here)}={quoted(there)}" for here, there in pairs.items())
    assert parse_pairs(text) == pairs


def test_each_table_gets_a_layout_with_its_own_names():
    here, there = two_layouts(
        user="id", anonymous_user="nr", item={"sku": "product"}, count="n", header=True
    )
    assert (here.user, here.item, here.count, here.header) == ("id", "sku", "n", True)
    assert (there.user, there.item, there.count, there.header) == ("nr", "product", "n", True)
    here, there = two_layouts(known_user="a", columns={"age": "Age", "zip": "zip"})
    assert (here.user, here.columns) == ("a", ("age", "zip"))
    assert (there.user, there.columns) == (None, ("Age", "zip"))


def test_a_column_has_one_name_in_each_table():
    with refuses("wrong-type"), speaking("options"):
        two_layouts(item={"a": "b", "c": "d"})
    with refuses("duplicate-column"):
        two_layouts(columns={"a": "x", "b": "x"})
