"""Recognise what a column holds by its name and values: names, post codes, birth dates, amounts.

Values are only counted, in SQL; none of them leaves the database.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reidrisk.io.column_roles import name_words, role_of
from reidrisk.io.labels import NOTHING
from reidrisk.io.table_files import sql_text

# How tables mark a cell without a value.
EMPTY_SIGNS = ("?", "-", "--", ".", "(null)", *NOTHING)

DECIMAL_COMMAS = "numbers with decimal commas"
_THOUSANDS = "numbers with commas at thousands"
FORMS = {
    "whole numbers": r"^[+-]?\d+$",
    "numbers": r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$",
    _THOUSANDS: r"^[+-]?[1-9]\d{0,2}(,\d{3})*(\.\d+)?$",
    DECIMAL_COMMAS: r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$",
    "lists": r"^[^;]*(;[^;]*)+$",
}
"""How all values of a column are written, the strictest first."""

NUMBERS = ("whole numbers", "numbers")
"""Forms that can be read as numbers as they are."""

# Much quicker to compile than the class of all letters.
_LETTER = r"[^\s\d[:punct:]]"
_CLOCK = r"\d\d?:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?"
_ZONE = r"( ?(Z|(UTC|GMT)?[+-]\d\d?:?(\d\d)?|UTC|GMT))?"
_DAYS = (
    r"\d{4}-\d\d?-\d\d?",
    r"\d{4}/\d\d?/\d\d?",
    r"\d\d?[/.-]\d\d?[/.-](\d{4}|\d\d)",
    rf"\d\d?[ -]{_LETTER}{{3,9}}\.?[ -]\d{{2,4}}",
    rf"{_LETTER}{{3,9}}\.? \d\d?,? \d{{4}}",
    r"(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])",
)
# As in the logs of web servers, in mails, and in those of social networks.
_SHORT = f"{_LETTER}{{3}}"
_LOGGED = (
    rf"\[?\d\d?/{_SHORT}/\d{{4}}:\d\d:\d\d:\d\d( [+-]\d{{4}})?\]?",
    rf"{_SHORT}, \d\d? {_SHORT} \d{{4}} \d\d:\d\d:\d\d( ([+-]\d{{4}}|[A-Z]{{3,4}}))?",
    rf"{_SHORT} {_SHORT} +\d\d? \d\d:\d\d:\d\d( ([+-]\d{{4}}|[A-Z]{{3,4}}))? \d{{4}}",
)
_DAY = "(" + "|".join(_DAYS) + ")"
# Nicknames and maiden names may stand in quotes or brackets.
_WORD = rf"[\"(]?{_LETTER}({_LETTER}|['\x{{2019}}.-])*[\")]?"
# Behind a comma stands the given name, perhaps behind a title.
_FIRST_NAME = rf"^(?:.*, )?(?:(?:Mr|Mrs|Ms|Miss|Master|Dr|Herr|Frau|Mme|Sr|Sra)\.? )?({_LETTER}+)"
_STREETS = (
    "street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|court|ct|crescent|terrace|close|"
    "highway|parade|rue|via|viale|piazza|calle|avenida|rua|plaza|platz|allee|straat|laan"
)
# Behind the number of a house, as in 12 b.
_UNIT = rf"\s?{_LETTER}?"
# Shapes of values; what a column holds is decided by the share of its values that have them.
_SHAPES = {
    "email": rf"^[^@\s,;]+@[^@\s,;]+\.{_LETTER}{{2,}}$",
    "email_inside": rf"[^@\s,;]+@[^@\s,;]+\.{_LETTER}{{2,}}",
    "phone": r"^(\+|00)?[\s(]*\d[\d\s()/.-]{5,}\d$",
    "nine_digits": r"^(\D*\d){9,}\D*$",
    "phone_signs": r"^\+\s*\d|\d[\s/-]+\(?\d|\(\d+\)",
    "card": r"^\d{4}([ -]?\d{4}){3}$",
    "account": r"^[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?$",
    "social": r"^\d{3}-\d{2}-\d{4}$",
    "ip": r"^\d{1,3}(\.\d{1,3}){3}$|^[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){3,7}$",
    "url": r"^(https?://|www\.)\S+$",
    "person": rf"^{_WORD}( {_WORD})*(,( {_WORD})+)?$",
    "several_words": r"^\S+ \S+",
    "street": rf"(?i)^\d+{_UNIT}[\s,]+{_LETTER}|^{_LETTER}.* \d+{_UNIT}$|\b({_STREETS})\b",
    "street_word": rf"(?i)\b({_STREETS})\b|(stra(ss|ß)e|str\.|gasse|weg|platz|straat)\b",
    "five_digits": r"^\d{5}(-\d{4})?$",
    "post_letters": r"^([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{4} ?[A-Z]{2})$",
    "post": r"^[A-Za-z0-9][A-Za-z0-9 -]{1,9}$",
    "day": rf"^{_DAY}$",
    "time": rf"^({_DAY}([T ,]+{_CLOCK}{_ZONE})?|{'|'.join(_LOGGED)})$",
    "clock": rf"^{_CLOCK}$",
    "year": r"^(18|19|20)\d\d$",
    "cents": r"^[+-]?[\d.,' ]*\d[.,]\d\d$",
    "uuid": r"^\{?[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?$",
    "hash": r"^[0-9a-fA-F]{16,}$|^[A-Za-z0-9+/_-]{20,}={0,2}$",
    "code": r"^[^\s[:punct:]]([^\s[:punct:]]|[_./:#-])*$",
    "digits": r"\d",
    "letters": _LETTER,
}
# Aggregates besides shares.
_FIGURES = {
    "values": "count(*)",
    "length": "avg(length(v))",
    "shortest": "min(length(v))",
    "longest": "max(length(v))",
    "words": "avg(length(v) - length(replace(v, ' ', '')) + 1)",
    "least": "min(try_cast(v as hugeint))",
    "most": "max(try_cast(v as hugeint))",
    "first_year": r"min(try_cast(regexp_extract(v, '(18|19|20)\d\d') as integer))",
    "last_year": r"max(try_cast(regexp_extract(v, '(18|19|20)\d\d') as integer))",
}
# Of columns with more values, only about so many are compared with the shapes above; of hundreds of
# columns, fewer of each.
_MOST_VALUES, _LEAST_VALUES, _MOST_TOGETHER = 5_000, 500, 400_000
_MOST, _HALF, _SOME = 0.9, 0.5, 0.01
_FREE_TEXT, _SHORT_CODE = 40, 4
# Fewer values may differ by chance; among more days, two are the same.
_FEW, _MANY = 10, 500

# Given names of many languages: a column of which many values begin with one holds names.
_GIVEN = (
    "aaron adam adrian ahmed aisha alan albert alejandro alex alexander alexandra alice alicia "
    "amanda amelia amy ana andrea andreas andrew angela anita ann anna anne annette anthony "
    "antonio arthur ashley barbara beatrice ben benjamin bernard bernd betty birgit bob brandon "
    "brenda brian bruno camille carl carla carlos carmen carol caroline catherine cedric "
    "charles charlotte chen chloe chris christian christina christine christopher claire clara "
    "claudia cynthia daniel daniela david deborah denise dennis diana diego dieter dirk donald "
    "donna dorothy edith edward elena eleni elias elise elizabeth ella ellen emil emily emma "
    "eric erik ethan eva fatima felix fernando fiona florian frances francesca francesco "
    "francisco francois frank franz gabriel gary george gerard gerhard giovanni giulia gloria "
    "grace greg guillaume gunther hannah hans harry heather heidi heike heinz helen helena "
    "helga henri henry hugo ian ingrid irene isaac isabel isabella jack jacob james jan jane "
    "janet jason javier jean jeff jennifer jeremy jessica jim joan joe johan johann john jonas "
    "jonathan jordan jorge jose joseph joshua juan judith judy julia julian julie jurgen karen "
    "karl katharina katherine kathleen keith kelly kenneth kevin klaus kyle lara larry laura "
    "lauren lea lena leo leon linda lisa louis louise luca lucas lucia lucy luis lukas maja "
    "manfred manuel marc marco margaret maria marie mario marion mark markus martin martina "
    "mary mateo matteo matthew max maximilian megan mei melissa mia michael michel michelle "
    "miguel mike miriam mohamed mohammad mohammed monica monika nancy natalia natalie nathalie "
    "nathan nicholas nico nicolas nicole nina noah nora olga oliver olivia oscar pablo pamela "
    "patricia patrick paul paula paulo pedro peter petra philip philippe pierre rachel rafael "
    "raj ralf ralph raymond rebecca renate ricardo richard robert roberto roger roland ronald "
    "rosa rose roy ruth ryan sabine sally sam samantha samuel sandra sara sarah scott sean "
    "sebastian sergio sharon silvia simon simone sofia sophia sophie stefan stefanie stella "
    "stephan stephanie stephen steve steven susan susanne sven sylvia tanja teresa theo theresa "
    "thomas tim timothy tobias tom tyler ulrich ursula ute valentina vera veronica victor "
    "victoria vincent virginia walter wei wilhelm william wolfgang xavier yan yannick yasmin "
    "yusuf zachary zoe"
)

_HINTS = {
    "email": "email mail courriel correo",
    "phone": "phone telephone tel mobile cellphone handy telefon telefono gsm fax msisdn",
    "name": (
        "firstname lastname givenname surname forename familyname fullname middlename maidenname "
        "nickname vorname nachname familienname prenom nom nombre apellido apellidos cognome "
        "voornaam achternaam"
    ),
    "address": "address addr street adresse strasse rue direccion indirizzo adres addressline",
    "area": "city town state country county region province type",
    "post": "zip zipcode postcode postalcode postal plz postleitzahl codepostal cp codigopostal",
    "birth": (
        "birth dob birthday birthdate dateofbirth born geburt geburtsdatum geburtstag geboren "
        "naissance nacimiento nascita geboorte geboortedatum bday yob birthyear yearofbirth "
        "geburtsjahr jahrgang"
    ),
    "price": (
        "price cost amount total paid preis betrag prix montant precio importe prezzo importo "
        "fare revenue unitprice umsatz salary income charge charges amt wage wages earnings pay "
        "bonus balance loan debt sales profit budget value expense expenses gehalt lohn salaire"
    ),
    "time": (
        "time timestamp ts date datetime unix epoch when created updated at datum zeit heure "
        "fecha hora data day start end year month week jahr annee"
    ),
    "quantity": (
        "qty quantity count counts numberof numof noof nof age duration seconds minutes hours days "
        "weeks months years"
    ),
    "position": "lat latitude lon long lng longitude position",
    "id": (
        "id ids uuid guid key nr no nbr num number ref reference hash index idx identifier rowid "
        "unnamed"
    ),
    "social": (
        "ssn socsec nationalid passport iban nino personnummer cpf dni nif svnr taxid "
        "socialsecurity"
    ),
    "event": (
        "order transaction invoice event session trip ride booking visit encounter ticket log row "
        "line message post tweet payment receipt basket trans index unnamed"
    ),
}
# Columns that are called just so, beside each other.
_HALVES = ({"first"}, {"last"}, {"given"}, {"family"})
_WORDS = {hint: frozenset(words.split()) for hint, words in _HINTS.items()}
# Where no blanks stand between words, a name says so if it has one of these within it.
_WITHIN = {
    "email": "邮箱 邮件 メール",
    "phone": "手机 电话 電話 전화",
    "name": "姓名 名字 氏名 이름 성명",
    "address": "地址 住址 住所 주소",
    "post": "邮编 邮政编码 郵便番号 우편번호",
    "birth": "出生 生日 生年月日 생년월일",
    "price": "价格 金额 工资 收入 金額 금액",
    "time": "时间 日期 日付 날짜",
    "social": "身份证 护照 주민등록",
}

DIRECT = frozenset({
    "names", "e-mail addresses", "phone numbers", "street addresses", "national ids",
    "card numbers", "bank accounts", "IP addresses", "text with e-mail addresses",
})  # fmt: skip
"""Contents that name a person or reach one directly."""

TIMES = frozenset({"times", "dates", "epoch seconds", "epoch milliseconds"})
"""Contents that are moments or days."""

_AGES = frozenset({"birth dates", "birth years"})
"""Contents that say when somebody was born."""

OF_PEOPLE = DIRECT | _AGES | {"post codes"} - {"IP addresses"}
"""Contents of tables about people."""

KEYS = frozenset({
    "ids", "phone numbers", "card numbers", "e-mail addresses", "bank accounts", "national ids",
    "IP addresses",
})  # fmt: skip
"""Contents that may tell the users of a log apart."""

HIDDEN = DIRECT | _AGES | TIMES | {"ids", "free text", "post codes"}
"""Contents of which no value is shown, however many people share it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnSummary:
    """What a column holds.

    Args:
        name: As the file has it, or its number.
        kind: How its values are written: whole numbers, numbers, text, lists and so on.
        content: What they are, if they are recognised: post codes, times, names and so on.
        distinct: How many values differ; None for lists.
        alone: How many people have a value of it that nobody else has; None for lists.
        empty: Rows without a value.
        blank: Rows with a sign that stands for no value, such as ? or NA.
        signs: These signs.
        negative: Rows with a number below zero.
        role: What the column probably is: user, item, count or epoch.
        why: What it is taken for that by: an option, its name, its type, its place or its values.
        left_out: Why it is not among the columns to ask about; empty if it is.
        examples: Values that many people share, the most common first.
    """

    name: str
    kind: str
    content: str | None
    distinct: int | None
    alone: int | None
    empty: int
    blank: int
    signs: tuple[str, ...]
    negative: int
    role: str | None
    why: str
    left_out: str
    examples: tuple[str, ...]

    @property
    def holds(self) -> str:
        """What it holds, as precisely as is known."""
        return self.content or self.kind


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What is counted of the values of a column; none of them is kept.

    Args:
        name: Of the column.
        form: How the values are written: one of `FORMS`, or "text" or "empty".
        figures: Shares of the distinct values with certain shapes, and other aggregates.
        distinct: How many values differ, without those that mean nothing.
        rows: How many rows have one of these.
    """

    name: str
    form: str
    figures: Mapping[str, Any]
    distinct: int
    rows: int

    def share(self, shape: str) -> float:
        """The share of values with a shape."""
        return float(self.figures[shape])

    def is_called(self, hint: str) -> bool:
        """Whether the name of the column says so."""
        within = any(word in self.name for word in _WITHIN.get(hint, "").split())
        return within or bool(_WORDS[hint] & name_words(self.name))

    def is_just_called(self, word: str) -> bool:
        """Whether the name of the column is this word and no other."""
        return name_words(self.name) == {word}

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the most whole number; 0 if there is none, or one that is too long."""
        return self.figures["least"] or 0, self.figures["most"] or 0

    @property
    def unique(self) -> bool:
        """Whether no value comes twice, among enough of them to mean something."""
        return self.distinct == self.rows >= _FEW

    @property
    def counts_time(self) -> bool:
        """Whether whole numbers are times by their name."""
        return self.form == "whole numbers" and self.is_called("time")

    @property
    def is_measure(self) -> bool:
        """Whether whole numbers are times or quantities by their name."""
        return self.counts_time or (self.form == "whole numbers" and self.is_called("quantity"))

    @property
    def is_code(self) -> bool:
        """Whether the values are codes: whole numbers, or signs without blanks, with digits."""
        coded = self.share("code") >= _MOST and self.share("digits") >= _HALF
        return self.form == "whole numbers" or (self.form == "text" and coded)


def count_values(
    run: Callable[[str], Sequence[tuple[Any, ...]]], names: Sequence[str]
) -> dict[str, ColumnValues]:
    """Count what the values of columns look like, those of all columns together.

    Args:
        run: Runs a query and gives its rows. The table `often` has each value `v` of the column at
            a `place` once, and in `rows` how often it comes.
        names: Of the columns, in their places.
    """
    filled = f"v <> '' and v not in ({', '.join(map(sql_text, EMPTY_SIGNS))})"
    forms = (f"bool_and(regexp_matches(v, {sql_text(form)}))" for form in FORMS.values())
    counted = f"select place, count(*), sum(rows), {', '.join(forms)} from often where {filled}"
    found = {place: rest for place, *rest in run(f"{counted} group by place")}
    figures = _figures(run, filled, {place: int(rest[0]) for place, rest in found.items()})
    columns = {}
    for place, name in enumerate(names):
        distinct, rows, *fitting = found.get(place, (0, 0))
        fits = (form for form, is_so in zip(FORMS, fitting, strict=False) if is_so)
        form = next(fits, "text") if distinct else "empty"
        columns[name] = ColumnValues(name, form, figures.get(place, {}), int(distinct), int(rows))
    return columns


def _figures(
    run: Callable[[str], Sequence[tuple[Any, ...]]], filled: str, distinct: Mapping[int, int]
) -> dict[int, dict[str, Any]]:
    """Aggregates of each column; what several columns hold is compared with the shapes once."""
    if not distinct:
        return {}
    most = min(_MOST_VALUES, max(_LEAST_VALUES, _MOST_TOGETHER // len(distinct)))
    shares = ", ".join(f"({place}, {most / count})" for place, count in distinct.items())
    chosen = (
        f"select place, v from often join (values {shares}) as s(place, share) using (place) "
        f"where {filled} and (share >= 1 or hash(v) < share * {2.0**64})"
    )
    shapes = {
        shape: f"regexp_matches(v, {sql_text(pattern)})" for shape, pattern in _SHAPES.items()
    }
    given = ", ".join(map(sql_text, _GIVEN.split()))
    first = f"lower(strip_accents(regexp_extract(v, {sql_text(_FIRST_NAME)}, 1)))"
    shapes["given"] = f"{first} in ({given})"
    marked = ", ".join(f"cast({shape} as integer) as {name}" for name, shape in shapes.items())
    asked = _FIGURES | {shape: f"avg({shape})" for shape in shapes}
    found = run(
        f"with chosen as materialized ({chosen}), "
        f"marked as materialized (select v, {marked} from (select distinct v from chosen)) "
        f"select place, {', '.join(asked.values())} from chosen join marked using (v) "
        "group by place"
    )
    return {place: dict(zip(asked, rest, strict=True)) for place, *rest in found}


def _content_of(column: ColumnValues) -> str | None:
    """What a column holds, in the plural: "post codes", "times"; None if nothing special.

    Args:
        column: What was counted of it.
    """
    if column.form in ("empty", "lists"):
        return None
    return next((content for content, holds in _CONTENTS if holds(column)), None)


def contents_of(columns: Mapping[str, ColumnValues]) -> dict[str, str | None]:
    """What each column holds, in the light of the others.

    Args:
        columns: What was counted of each, by its name.
    """
    found = {name: _content_of(values) for name, values in columns.items()}
    if any(content in OF_PEOPLE for content in found.values()):
        # Beside a given name or a birth date, even rare names in a column called name are people.
        for name, values in columns.items():
            if found[name] is None and values.is_just_called("name") and _may_be_names(values):
                found[name] = "names"
    return found


def _is_email(column: ColumnValues) -> bool:
    return column.share("email") >= _HALF or (
        column.is_called("email") and column.share("email") > 0
    )


def _is_time(column: ColumnValues) -> bool:
    return column.share("time") >= _MOST and column.share("digits") == 1


def _is_birth(column: ColumnValues) -> bool:
    if column.share("day") < _MOST or column.is_called("birth"):
        return column.share("day") >= _MOST
    # Dates of events seldom span a generation, and end in our days; their names say of what.
    first, last = column.figures["first_year"], column.figures["last_year"]
    named = column.is_called("time") and len(name_words(column.name)) > 1
    # Among many people, some were born on the same day.
    series = column.unique and column.distinct >= _MANY
    return first is not None and first < 1990 and last - first >= 40 and not (named or series)  # noqa: PLR2004


def _is_birth_year(column: ColumnValues) -> bool:
    return column.is_called("birth") and column.share("year") >= _MOST


def _is_epoch(column: ColumnValues, unit: int) -> bool:
    """Whether numbers are moments from 1989 to 2039, in this many parts of a second."""
    least, most = column.ends
    return (
        column.form in NUMBERS
        and 600_000_000 * unit <= least <= most < 2_200_000_000 * unit
        and not any(map(column.is_called, ("id", "phone", "position")))
    )


def _is_phone(column: ColumnValues) -> bool:
    if column.share("phone") < _MOST or column.figures["longest"] > 24:  # noqa: PLR2004
        return False
    # Ranges of years and of incomes have the signs of phone numbers, but few digits or few values.
    signed = min(map(column.share, ("phone_signs", "nine_digits"))) >= _MOST
    some = column.share("social") < _HALF and column.distinct >= _FEW
    return column.is_called("phone") or (signed and some)


def _may_be_names(column: ColumnValues) -> bool:
    return (
        column.form == "text"
        and column.share("person") >= 0.8  # noqa: PLR2004
        and column.figures["length"] <= _FREE_TEXT
    )


def _is_name(column: ColumnValues) -> bool:
    if not _may_be_names(column):
        return False
    words = name_words(column.name)
    if any(role_of(word) == "item" for word in words):
        return False
    if column.is_called("name") or words in _HALVES:
        return True
    # A given name now and then is chance: april, rose and jordan are other things too.
    known = column.share("given") >= (0.2 if column.share("several_words") > _HALF else 0.4)
    called = bool({"name", "names"} & words)
    return known and (called or column.distinct >= _FEW)


def _is_address(column: ColumnValues) -> bool:
    if column.share("letters") < _MOST or column.share("url") >= _HALF:
        return False
    # The state in an address, or whether it is urban, is no street.
    if column.is_called("address") and column.figures["length"] > _SHORT_CODE:
        return not column.is_called("area")
    both = column.share("street_word") >= _HALF and column.share("street") >= _MOST
    return both and column.share("digits") >= _HALF


def _is_post(column: ColumnValues) -> bool:
    if column.is_called("post") and column.share("post") >= _MOST:
        return column.share("digits") >= _MOST
    if column.share("post_letters") >= _MOST:
        return True
    coded = column.share("five_digits") + column.share("post_letters")
    # Five digits are the post codes of many countries; ids go up one by one.
    return (
        column.share("five_digits") >= _HALF
        and coded >= _MOST
        and column.distinct >= _FEW
        and not column.is_called("id")
        and not column.is_called("price")
        and not _goes_up(column)
    )


def _goes_up(column: ColumnValues) -> bool:
    """Whether whole numbers are all those from one to another."""
    least, most = column.ends
    whole = column.form == "whole numbers"
    return whole and column.unique and most - least < 2 * column.distinct


def _is_id(column: ColumnValues) -> bool:
    if column.share("uuid") >= _MOST or (column.share("hash") >= _MOST and column.form == "text"):
        return True
    if not (column.is_code and column.share("digits") >= _MOST):
        return False
    # A number of a street or class that many people share describes them.
    if column.is_called("id"):
        return 2 * column.distinct > column.rows
    if column.unique and not column.is_called("price") and _ends_as_id(column.name):
        return True
    long = column.figures["shortest"] == column.figures["longest"] >= 6  # noqa: PLR2004
    letters = column.form == "text" and column.figures["shortest"] > 1
    named = column.unique and not any(map(column.is_called, ("time", "position")))
    return named and (_goes_up(column) or long or letters)


def _ends_as_id(name: str) -> bool:
    """Whether a name ends as those of ids do that are written as one word: pidnum, custid."""
    return any(word.endswith(("id", "num", "key")) for word in name_words(name))


def _is_amount(column: ColumnValues) -> bool:
    numbers = column.form in (*NUMBERS, DECIMAL_COMMAS, _THOUSANDS)
    if column.is_called("price"):
        return numbers
    return column.form != "text" and numbers and column.share("cents") >= _MOST


def _is_free_text(column: ColumnValues) -> bool:
    return (
        column.form == "text"
        and column.figures["length"] >= _FREE_TEXT
        and column.figures["words"] >= 5  # noqa: PLR2004
        and 2 * column.distinct > column.rows
    )


_CONTENTS: tuple[tuple[str, Callable[[ColumnValues], bool]], ...] = (
    ("e-mail addresses", _is_email),
    ("text with e-mail addresses", lambda column: column.share("email_inside") >= _SOME),
    ("birth dates", _is_birth),
    ("birth years", _is_birth_year),
    ("dates", lambda column: _is_time(column) and column.share("day") >= _MOST),
    ("times", _is_time),
    ("times of day", lambda column: column.share("clock") >= _MOST),
    ("epoch seconds", lambda column: _is_epoch(column, 1)),
    ("epoch milliseconds", lambda column: _is_epoch(column, 1000)),
    ("national ids", lambda column: column.share("social") >= _MOST
     or (column.is_called("social") and column.share("digits") >= _MOST)),
    ("card numbers", lambda column: column.share("card") >= _MOST),
    ("bank accounts", lambda column: column.share("account") >= _MOST),
    ("IP addresses", lambda column: column.share("ip") >= _MOST),
    ("phone numbers", _is_phone),
    ("URLs", lambda column: column.share("url") >= _MOST),
    ("post codes", _is_post),
    ("street addresses", _is_address),
    ("names", _is_name),
    ("ids", _is_id),
    ("amounts", _is_amount),
    ("free text", _is_free_text),
)  # fmt: skip


def of_events(name: str) -> bool:
    """Whether a column numbers events, not people: order_id, transaction; order_day does not.

    Args:
        name: Of the column.
    """
    words = name_words(name)
    alone = len(words) == 1 or bool(_WORDS["id"] & words)
    return alone and bool(_WORDS["event"] & words)
