"""Small files in nine shapes that people have: as they come, with nothing prepared."""

import random
from datetime import datetime, timedelta

from tests.workbooks import write_workbook

TOWNS = ("Paris", "Orléans", "Besançon", "Nîmes")
JOBS = ("technician", "writer", "student", "other", "lawyer")
FIRST = ("anna", "ben", "carla", "dario", "emma", "felix", "gina", "hugo", "ines", "jon")
LAST = ("weber", "rossi", "martin", "silva", "novak", "smith", "dubois", "berg", "costa", "lang")


def seeded(seed):
    return random.Random(seed)  # noqa: S311  no secrets here


def movie_log(folder, people=60):
    """`u.data`: user, film, rating and epoch seconds, separated by tabs, without a header."""
    coin = seeded(1)
    lines = []
    for user in range(1, people + 1):
        for film in sorted(coin.sample(range(1, 121), coin.randint(5, 20))):
            second = 874_724_710 + coin.randrange(20_000_000)
            lines.append(f"{user}\t{film}\t{coin.randint(1, 5)}\t{second}")
    coin.shuffle(lines)
    return written(folder / "u.data", lines)


def movie_users(folder, people=300):
    """`u.user`: id, age, sex, occupation and ZIP code, separated by bars, without a header."""
    coin = seeded(2)
    return written(folder / "u.user", [
        f"{user}|{coin.randint(18, 70)}|{coin.choice('MF')}|{coin.choice(JOBS)}"
        f"|{coin.randrange(100_000):05d}"
        for user in range(1, people + 1)
    ])  # fmt: skip


def census(folder, people=400):
    """`adult.data`: a comma and a blank between entries, `?` where nothing is known, no header."""
    coin = seeded(3)
    work = ("Private", "State-gov", "Self-emp", "?")
    school = ("Bachelors", "HS-grad", "11th", "Masters")
    country = ("United-States", "Mexico", "?", "Cuba")
    return written(folder / "adult.data", [
        ", ".join((str(coin.randint(17, 90)), coin.choice(work),
                   str(coin.randrange(12_285, 990_000)), coin.choice(school),
                   coin.choice(("Male", "Female")),
                   str(coin.choice((20, 35, 40, 40, 60))), coin.choice(country),
                   coin.choice(("<=50K", ">50K"))))
        for _ in range(people)
    ])  # fmt: skip


def record_pair(folder, people=200):
    """Two registers whose columns have other names, and whose ids name the register."""
    coin = seeded(4)
    one = ["rec_id,given_name,surname,postcode,date_of_birth"]
    two = ["id;First name;last;PLZ;born"]
    for person in range(people):
        given, last = coin.choice(FIRST), coin.choice(LAST)
        post = str(coin.randrange(1_000, 10_000))
        born = f"19{coin.randint(30, 99)}{coin.randint(1, 12):02d}{coin.randint(1, 28):02d}"
        one.append(f"rec-{person}-org,{given},{last},{post},{born}")
        if coin.random() < 0.7:
            post = post if coin.random() < 0.8 else ""
            two.append(f"rec-{person}-dup-0;{given};{last};{post};{born}")
    coin.shuffle(body := two[1:])
    return written(folder / "org.csv", one), written(folder / "dup.csv", two[:1] + body)


def online_retail(folder, customers=40):
    """Sales in latin-1: customers without a number, returns, American times, prices."""
    head, rows = _sales(customers)
    lines = [",".join(head), *(",".join(map(str, row)) for row in rows)]
    return written(folder / "Online Retail.csv", lines, "latin-1")


def online_retail_sheet(folder, customers=40):
    """The same sales as a workbook."""
    head, rows = _sales(customers)
    path = folder / "Online Retail.xlsx"
    write_workbook(path, [head, *rows])
    return path


def _sales(customers):
    coin = seeded(5)
    head = ["InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice",
            "CustomerID", "Country"]  # fmt: skip
    goods = {f"{coin.randrange(10_000, 99_999)}{coin.choice(('', '', 'A'))}": name
             for name in ("WHITE T-LIGHT", "CAFÉ SIGN", "RED MUG", "LUNCH BOX", "CLOCK", "BUNTING",
                          "CAKE STAND", "JUMBO BAG", "POSTAGE", "SPOTTY BOWL", "HAND WARMER",
                          "DOORMAT")}  # fmt: skip
    rows = []
    for invoice in range(536_365, 536_365 + 6 * customers):
        customer = coin.choice(("", *range(12_346, 12_346 + customers)))
        when = datetime.fromisoformat("2010-12-01T08:26") + timedelta(
            minutes=coin.randrange(60 * 24 * 300)
        )
        for code in coin.sample(sorted(goods), coin.randint(1, 4)):
            back = coin.random() < 0.05
            rows.append([
                f"C{invoice}" if back else str(invoice), code, goods[code],
                -1 if back else coin.choice((1, 2, 6, 12)),
                f"{when.month}/{when.day}/{when.year} {when.hour}:{when.minute:02d}",
                coin.choice((2.55, 3.39, 7.65)), customer,
                coin.choice(("United Kingdom", "France")),
            ])  # fmt: skip
    return head, rows


def french(folder, people=150):
    """Latin-1 with French names of columns."""
    coin = seeded(6)
    return written(folder / "adhérents.csv", ["numéro;âge;sexe;code postal;ville", *(
        f"A{person:04d};{coin.randint(18, 90)};{coin.choice('FH')};"
        f"{coin.randrange(1_000, 95_999):05d};{coin.choice(TOWNS)}"
        for person in range(people)
    )], "latin-1")  # fmt: skip


def german(folder, customers=40):
    """A German export: semicolons, decimal commas, a point for thousands, dates with points."""
    coin = seeded(7)
    lines = ["Kunde;Artikel;Menge;Preis;Datum"]
    for customer in range(1, customers + 1):
        lines += [
            f"K{customer:03d};{coin.randrange(100, 140)};{coin.choice(('0,5', '1,0', '2,0'))};"
            f"{coin.choice(('3,50', '12,99', '1.299,00'))};"
            f"{coin.randint(13, 28):02d}.{coin.randint(1, 12):02d}.2024"
            for _ in range(coin.randint(3, 9))
        ]
    return written(folder / "Verkäufe.csv", lines)


def json_lines(folder, people=50):
    """A log of visits as JSON lines."""
    coin = seeded(8)
    lines = []
    for person in range(people):
        for _ in range(coin.randint(3, 12)):
            when = datetime.fromisoformat("2024-03-01") + timedelta(
                minutes=coin.randrange(60 * 24 * 30)
            )
            lines.append(f'{{"user_id": "u{person:03d}", "page": "/p{coin.randrange(40)}", '
                         f'"timestamp": "{when.isoformat()}Z", "agent": null}}')  # fmt: skip
    return written(folder / "visits.jsonl", lines)


def titled(folder, people=120):
    """A report from an office: title lines above the header, a total below the rows."""
    coin = seeded(9)
    rows = [f"{1_000 + person},{coin.randint(20, 80)},{coin.randrange(10_000, 99_999)},"
            f"{coin.choice(JOBS)},{coin.randrange(1, 9)}" for person in range(people)]  # fmt: skip
    total = sum(int(row.rsplit(",", 1)[1]) for row in rows)
    return written(folder / "members.csv", [
        "Members of the club,,,,", "As of 31 March 2024,,,,", ",,,,",
        "member,age,zip,occupation,visits", *rows, f"Total,,,,{total}",
    ])  # fmt: skip


def written(path, lines, encoding="utf-8"):
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode(encoding))
    return path
