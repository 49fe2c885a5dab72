"""What columns hold, recognised by their names and values, none of which is told."""

import random

import pytest
from tests.io.example_tables import GIVEN, SURNAMES, written

from reidrisk.io.inspect import inspect_file
from reidrisk.io.layouts import Layout

chance = random.Random(4)  # noqa: S311  a test
MANY = 60
TABS = Layout(header=True, separator="tab")


def numbers(least, most):
    return [str(chance.randrange(least, most)) for _ in range(MANY)]


def written_as(form, *ranges):
    """Values in a form, with a random number in each place."""
    return [form.format(*(chance.randrange(*one) for one in ranges)) for _ in range(MANY)]


DAY, MONTH, YEAR, HOUR, MINUTE = (1, 29), (1, 13), (2009, 2013), (0, 24), (10, 60)
NAMES = [f"{chance.choice(GIVEN).title()} {chance.choice(SURNAMES).title()}" for _ in range(MANY)]
KINDS = {
    "names": [
        ("who_is_it", NAMES),
        ("Name", [f"{name.split()[1]}, Mr. {name.split()[0]} Owen" for name in NAMES]),
        ("Name", [f'{name} "Bo" ({name.split()[0]} Ox)' for name in NAMES]),
        ("姓名", ["王伟", "李秀英", "张娜"] * 20),
        ("Vorname", ["Xaverl", "Zenzi", "Kreszenz"] * 20),
        ("last", ["O'Neill", "van der Berg", "Müller-Lüdenscheidt"] * 20),
    ],
    "e-mail addresses": [("contact", written_as("p{}@example.org", (0, 999)))],
    "text with e-mail addresses": [
        ("remark", [*written_as("calls at {}", (9, 17)), *["write to me@example.org"] * 3]),
    ],
    "phone numbers": [
        ("x", written_as("+43 664 {}", (10**6, 10**7))),
        ("x", written_as("({}) {}-{}", (200, 999), (200, 999), (1000, 9999))),
        ("手机号码", numbers(13 * 10**9, 14 * 10**9)),
        ("mobile", written_as("0664{}", (10**6, 10**7))),
    ],
    "street addresses": [
        ("x", written_as("{} Elm Street", (1, 99))),
        ("x", written_as("Lange Gasse {}", (1, 99))),
        ("address_1", ["stanley street", "kay close"] * 30),
    ],
    "national ids": [
        ("x", written_as("{}-{}-{}", (100, 999), (10, 99), (1000, 9999))),
        ("soc_sec_id", numbers(10**6, 10**7)),
    ],
    "card numbers": [("x", written_as("{} {} {} {}", *[(1000, 9999)] * 4))],
    "bank accounts": [("x", written_as("AT61 {} {} {} {}", *[(1000, 9999)] * 4))],
    "IP addresses": [("x", written_as("10.{}.{}.{}", *[(0, 256)] * 3))],
    "post codes": [
        ("zip", numbers(1000, 9999)),
        ("x", [*written_as("{}", (10_000, 99_999)), "V3N4P"]),
        ("Code postal", [f"0{one}" for one in numbers(1000, 9999)]),
        ("x", written_as("SW{}A {}AA", (1, 9), (1, 9))),
    ],
    "birth dates": [
        ("x", written_as("{}.{:02}.{}", DAY, MONTH, (1930, 2005))),
        ("dob", written_as("{}{:02}{:02}", (1990, 2005), MONTH, DAY)),
    ],
    "birth years": [("year of birth", numbers(1930, 2005))],
    "dates": [
        ("x", written_as("{:02}.{:02}.{}", DAY, MONTH, YEAR)),
        ("x", written_as("{}/{}/{}", MONTH, DAY, YEAR)),
        ("x", written_as("{} Dec {}", DAY, YEAR)),
        ("x", [f"{1930 + n // 12}-{n % 12 + 1:02}-01" for n in range(600)]),
        ("Release Date", written_as("{}-{:02}-{:02}", (1930, 2005), MONTH, DAY)),
    ],
    "times": [
        ("x", written_as("{}/{}/{} {}:{}", MONTH, DAY, YEAR, HOUR, MINUTE)),
        ("x", written_as("{}-{:02}-{:02}T{:02}:{}:00+02:00", YEAR, MONTH, DAY, HOUR, MINUTE)),
        ("x", written_as("{}-{:02}-{:02} {:02}:{}:00.123Z", YEAR, MONTH, DAY, HOUR, MINUTE)),
        ("x", written_as("{}/{:02}/{:02} {}:{}:09 PM GMT+1", YEAR, MONTH, DAY, (1, 12), MINUTE)),
        ("x", written_as("{}.{}.{}, {}:{} PM", DAY, MONTH, YEAR, (1, 12), MINUTE)),
        ("x", written_as("[{:02}/Nov/{}:{:02}:{}:00 +0100]", DAY, YEAR, HOUR, MINUTE)),
        ("x", written_as("Tue Apr {:02} {:02}:{}:09 +0000 2012", DAY, HOUR, MINUTE)),
    ],
    "times of day": [("x", written_as("{}:{}", HOUR, MINUTE))],
    "epoch seconds": [
        ("x", numbers(1_300_000_000, 1_400_000_000)),
        ("x", written_as("{}.{:06}", (1_300_000_000, 1_400_000_000), (0, 10**6))),
    ],
    "epoch milliseconds": [("x", numbers(1_300_000_000_000, 1_400_000_000_000))],
    "ids": [
        ("x", [f"c-{n:04}" for n in range(MANY)]),
        ("some_id", numbers(10**8, 10**9)),
        ("x", [f"{chance.getrandbits(128):032x}" for _ in range(MANY)]),
        ("pidnum", [str(97 * n + n * n) for n in range(MANY)]),
    ],
    "amounts": [
        ("x", [f"{one[:-2]}.{one[-2:]}" for one in numbers(100, 9999)]),
        ("x", [f"{one[:-2]},{one[-2:]}" for one in numbers(100, 9999)]),
        ("Preis", numbers(1, 99)),
        ("Salary", numbers(10_000, 99_999)),
    ],
    "free text": [
        ("x", written_as("she came in at {} and was told to go home again", (0, 999_999))),
    ],
    None: [
        ("age", numbers(18, 90)),
        ("town", ["Wien", "Graz", "Bad Ischl"] * 20),
        ("income", [*numbers(1, 9), "none of your business"]),
        ("house_no", numbers(1, 30)),
        ("addr_state", ["AZ", "GA", "IL"] * 20),
        ("Address City", ["Springfield", "Portland", "Newark"] * 20),
        ("years", ["2011 - 2013", "2014 - 2016"] * 30),
        ("mast", written_as("232-01-{}", (10, 40))),
        ("position_long", numbers(1_300_000_000, 1_400_000_000)),
        ("ordinal_date", [str(736_389 + n) for n in range(MANY)]),
        ("nom_produit", [name.lower() for name in NAMES]),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "name", "values"),
    [(content, *one) for content, some in KINDS.items() for one in some],
)
def test_columns_are_recognised(tmp_path, content, name, values):
    rows = [(chance.choice("fm"), value) for value in values]
    found = inspect_file(written(tmp_path / "t.csv", ("sex", name), rows, "\t"), TABS)
    assert found.columns[1].content == content
    assert not any(value in repr(found) for value in values if len(value) > 2)


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("numbers with commas at thousands", ["3,500", "1,299,500.5", "12"]),
        ("numbers with decimal commas", ["3,5", "1.299,50", "-12", "0,25"]),
        ("numbers", ["3.5", "12", "1e3"]),
        ("whole numbers", ["3", "-12", "?"]),
        ("text", ["3,5", "x"]),
        ("lists", ["a;b", "c;d;"]),
        ("empty", ["", "NA", "-", "n/a"]),
    ],
)
def test_forms_are_those_of_all_values(tmp_path, form, values):
    rows = [("x", value) for value in values * 5]
    path = written(tmp_path / "t.csv", ("sex", "value"), rows, "\t")
    assert inspect_file(path, TABS).columns[1].kind == form


def test_many_values_are_recognised_by_some_of_them(tmp_path):
    rows = [("f", f"p{n}@example.org") for n in range(12_000)]
    found = inspect_file(written(tmp_path / "t.csv", ("sex", "x"), rows))
    assert found.columns[1].content == "e-mail addresses"
    assert found.columns[1].distinct == found.columns[1].alone == 12_000


def test_a_column_called_name_holds_people_beside_people(tmp_path):
    rows = [(f"{'Xyl Ork Quat Fen'.split()[n % 4]}", f"p{n}@example.org") for n in range(40)]  # noqa: SIM905
    found = inspect_file(written(tmp_path / "t.csv", ("Name", "mail"), rows))
    assert found.columns[0].content == "names"
    alone = inspect_file(written(tmp_path / "u.csv", ("Name", "size"), [(r[0], "9") for r in rows]))
    assert alone.columns[0].content is None
