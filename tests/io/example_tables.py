"""Small tables of the kinds that people have: nine real ones in small, and some more."""

import csv
import json
import random
from datetime import datetime, timedelta

GIVEN = "michael sarah thomas emma jack olivia lucas chloe joshua hannah daniel jessica".split()  # noqa: SIM905
SURNAMES = "white nguyen smith campbell clarke green ryan webb miller dixon".split()  # noqa: SIM905


def written(path, header, rows, separator=",", encoding="utf-8", before=(), after=()):
    """Write rows as CSV, with lines before and after them as they are."""
    with path.open("w", newline="", encoding=encoding) as file:
        file.writelines(f"{line}\n" for line in before)
        table = csv.writer(file, delimiter=separator, lineterminator="\n")
        table.writerows([header, *rows] if header else rows)
        file.writelines(f"{line}\n" for line in after)
    return path


def movie_log(folder):
    """User, movie, rating and seconds since 1970, without a header."""
    chance = random.Random(1)  # noqa: S311  a test
    rows = [
        (1 + n % 80, chance.randrange(1, 300), chance.randrange(1, 6), 881250949 + 1009 * n)
        for n in range(1200)
    ]
    return written(folder / "u.data", None, rows, "\t")


def movie_users(folder):
    """Id, age, sex, occupation and ZIP code, without a header."""
    chance = random.Random(2)  # noqa: S311
    jobs = ("student", "engineer", "writer", "other", "educator")
    rows = [
        (n, chance.randrange(15, 70), chance.choice("MF"), chance.choice(jobs),
         "V3N4P" if n % 40 == 0 else chance.choice((str(chance.randrange(10**4, 10**5)), "55105")))
        for n in range(1, 301)
    ]  # fmt: skip
    return written(folder / "u.user", None, rows, "|")


def census(folder):
    """People without ids or header, `?` for what is not known."""
    chance = random.Random(3)  # noqa: S311
    rows = [
        ", ".join((str(chance.randrange(17, 90)), chance.choice(("Private", "State-gov", "?")),
                   str(chance.randrange(12_285, 1_484_705)), chance.choice(("HS-grad", "Masters")),
                   chance.choice(("Sales", "?")), chance.choice(("Male", "Female")),
                   chance.choice(("<=50K", ">50K"))))
        for _ in range(500)
    ]  # fmt: skip
    path = folder / "adult.data"
    path.write_text("\n".join(rows) + "\n")
    return path


def _people(seed):
    chance = random.Random(seed)  # noqa: S311
    streets = ("stanley street", "bennett place", "kay street", "tindale close")
    return [
        (f"rec-{n}-org", chance.choice(GIVEN), chance.choice(SURNAMES),
         str(chance.randrange(1, 60)), chance.choice(streets), chance.choice(("kew", "avoca")),
         str(chance.randrange(2000, 2090)), chance.choice(("nsw", "vic")),
         f"19{chance.randrange(10, 99)}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02}",
         str(chance.randrange(10**6, 10**7)))
        for n in range(200)
    ]  # fmt: skip


def register(folder):
    """People with names, addresses and dates of birth."""
    names = ("rec_id", "given_name", "surname", "street_number", "address_1", "suburb", "postcode",
             "state", "date_of_birth", "soc_sec_id")  # fmt: skip
    return written(folder / "register.csv", names, _people(4))


def survey(folder):
    """The same people, with other names of columns and other ids."""
    names = ("id", "First name", "last", "no", "street", "town", "zip", "st", "dob", "ssn")
    rows = [(row[0].replace("org", "dup-0"), *row[1:]) for row in _people(4)]
    return written(folder / "survey.csv", names, rows)


def retail(folder):
    """Invoices with empty customers and descriptions, returns, and American times."""
    chance = random.Random(5)  # noqa: S311
    begin = datetime(2010, 12, 1, 8, 26)  # noqa: DTZ001
    rows = []
    for n in range(1500):
        at = begin + timedelta(minutes=17 * (n // 6))
        back = n % 50 == 0
        rows.append(
            (f"{'C' if back else ''}{536365 + n // 6}", chance.choice(("85123A", "71053", "POST")),
             chance.choice(("WHITE HANGING HEART T-LIGHT HOLDER", "WHITE METAL LANTERN", "")),
             (-1 if back else 1) * chance.randrange(1, 30),
             f"{at.month}/{at.day}/{at.year} {at.hour}:{at.minute:02}",
             f"{chance.randrange(50, 900) / 100:.2f}",
             12346 + 7 * (n // 6 % 60) if n % 5 else "",
             chance.choice(("United Kingdom", "France")))
        )  # fmt: skip
    names = ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice",
             "CustomerID", "Country")  # fmt: skip
    return written(folder / "retail.csv", names, rows)


def french_customers(folder):
    """In latin-1, with accents in the header."""
    chance = random.Random(6)  # noqa: S311
    rows = [
        (1000 + 3 * n, chance.choice(("Élodie", "François", "Marie")),
         chance.choice(("Dupont", "Lefèvre")), chance.randrange(18, 80),
         f"{chance.randrange(1000, 9500)}0", chance.choice(("Paris", "Nîmes")))
        for n in range(150)
    ]  # fmt: skip
    names = ("Numéro client", "Prénom", "Nom", "Âge", "Code postal", "Ville")
    return written(folder / "clients.csv", names, rows, ";", "latin-1")


def german_purchases(folder):
    """With decimal commas and German dates."""
    chance = random.Random(7)  # noqa: S311
    rows = [
        (f"K{chance.randrange(60)}", f"A{chance.randrange(100, 140)}", chance.randrange(1, 5),
         f"{chance.randrange(1, 99)},{chance.randrange(100):02}",
         f"{chance.randrange(1, 29):02}.{chance.randrange(1, 13):02}.2010")
        for _ in range(600)
    ]  # fmt: skip
    return written(
        folder / "kaeufe.csv", ("Kunde", "Artikel", "Menge", "Preis", "Datum"), rows, ";"
    )


def reviews(folder):
    """JSON lines."""
    chance = random.Random(8)  # noqa: S311
    rows = [
        {"reviewerID": f"A{n % 90}XQ", "asin": f"B00{chance.randrange(50)}",
         "overall": chance.randrange(1, 6), "unixReviewTime": 1_300_000_000 + 86_400 * n}
        for n in range(700)
    ]  # fmt: skip
    path = folder / "reviews.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def contacts(folder):
    """Names, addresses and telephones of people."""
    chance = random.Random(9)  # noqa: S311
    rows = [
        (f"{chance.choice(GIVEN).title()} {chance.choice(SURNAMES).title()}", f"p{n}@example.org",
         f"+43 664 {1_000_000 + 7 * n}", chance.choice(("Wien", "Graz")),
         f"{chance.randrange(1, 29):02}.0{chance.randrange(1, 10)}.{chance.randrange(1940, 2005)}")
        for n in range(120)
    ]  # fmt: skip
    return written(folder / "contacts.csv", ("name", "email", "phone", "city", "birthday"), rows)


def payments(folder):
    """A person, a day and an amount."""
    chance = random.Random(10)  # noqa: S311
    rows = [
        (f"c-{n % 50}", f"2023-05-{chance.randrange(1, 29):02}T08:30:00+02:00",
         f"{chance.randrange(100, 9000) / 100:.2f}")
        for n in range(400)
    ]  # fmt: skip
    return written(folder / "payments.csv", ("card_holder", "paid_at", "paid"), rows)


def visits_with_people(folder):
    """A log in which every row repeats what describes the user."""
    chance = random.Random(11)  # noqa: S311
    people = {n: (chance.choice("fm"), 10_000 + 31 * chance.randrange(60)) for n in range(70)}
    rows = [
        (n, f"page{chance.randrange(30)}", *people[n]) for n in chance.choices(range(70), k=600)
    ]
    return written(folder / "visits.csv", ("visitor", "page", "sex", "zip"), rows)


TABLES = (
    movie_log, movie_users, census, register, survey, retail, french_customers, german_purchases,
    reviews, contacts, payments, visits_with_people,
)  # fmt: skip
