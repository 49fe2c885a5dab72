"""Values that files and people come up with, and that no program expects."""

from random import Random

from tests.fuzz.running import NAME

CELLS = (
    "", " ", "\t", "NULL", "null", "NaN", "nan", "NA", "N/A", "None", "-", "inf", "-inf", "1e999",
    "-1", "0", "-0", "1.0", "01", "1e3", "1_000", "1,5", "0x10", "٣", "\uff15", "½", "9" * 40,
    "9" * 5000, str(2**63), str(2**63 - 1), str(-(2**64)), "true", "True", "FALSE", "\ufeff",
    "\u202eabc", "e\u0301", "é", '"', '""', '"a', "'", "a,b", "a;b", ";", ";;;", "a\tb", '"a\nb"',
    "=1+1", "+1", "@x", "2023-01-01", "9999-12-31", "0000-00-00", "2024-02-30T25:00:00", "20230501",
    "1e-320", "0.1e-400", "\U0001d11e", "\x00", "\x1b[31mred", "\x7f", "\ud7ff", "{}", "[1]", "week 2",
    "week 10", f"{NAME}3", f" {NAME}4 ", f"{NAME}5;{NAME}6", "x" * 5000, "%s%n", "../../etc", "<b>",
)  # fmt: skip

NAMES = (
    "", " ", "user", "User", "user ", "users", "token", "tokens", "item", "items", "epoch", "epochs",
    "weight", "Weight", "weights", "wieght", "count", "probability", "1", "2", "id", "\ufeffuser",
    "a\x1b[2J", "x" * 3000, "timestamp", "domain", "representation", "tokens ", "é",
)  # fmt: skip

NUMBERS = (
    "0", "-1", "1", "2", "3", "007", "1.5", "1e3", "1e999", "nan", "inf", "-inf", "NaN%", "1%", "100%",
    "101%", "-1%", "1", "0.0", "1e-320", "%", "", " ", "1k", "1.0001k", "0k", "k", "1_0", "1,2", ",",
    "1,,2", "0,1", "2,1", "1,1", "9" * 25, "9" * 5000, str(2**31), str(2**32), str(2**63),
    str(2**64), "-" + str(2**63), "0x10", "٣", "1\ufe0f", "true", "None", "½", "1e5%", "--", "1M", "1;2",
)  # fmt: skip
"""Values of options that are numbers or sizes."""

WORDS = (
    "", " ", "-", "--", "user", "item", "token", "USER", "nope", "user,item", "1", "0", "-1", "99",
    "keep", "refuse", "random", "hamming", "overlap", "weighted-hamming", "os:system", "builtins:eval",
    "reidrisk.attacks:Hamming", "no.such:Thing", "a.b", ":", "a:", ":b", "json:loads", "tab", "\\t", "\t",
    ";", "::", "x" * 4000, "é", "\udcff", "\x1b[31m", "topics", "topics noise=1", "cohorts users=2",
    "item-samples samples=1", "noise=1%,5%", "noise=", "=", "users=10", "top=true", "noise=nan",
    "generalised users=3", "minimum-users users=2", "day", "day,day", "hour,week", "10", "0.1,-1", "%s",
)  # fmt: skip
"""Values of options that are words."""

PATHS = ("", "nope.csv", ".", "people.csv", "people.parquet", "matrix.npy", "study.toml", "weights.jsonl",
         "ours-run", "ours-run/result.json", "ours-seen", "ours-new", "ours-new.json", "ours-new.html",
         "no/such/folder.json", "people.csv/inside", "x" * 300, "\udcff.csv", "~", "ours-é.json", "ours.csv",
         "ours.parquet", "ours\x1b[31m.json")  # fmt: skip
"""All inside the folder of the case: who writes anywhere harms nobody."""

PIECES = (
    b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b'"', b'""', b",", b";",
    b"\t", b"'", b"\\", b"9" * 30, b"-1", b"nan", b"1e999", b"\xc3", b"\xed\xa0\x80", b"PAR1", b"\x1f\x8b",
    b"PK\x03\x04", b"{", b"}", b"[" * 50, b"]", b"=", b"\x7f\xff\xff\xff", b"\xff" * 8, b" ", b"#",
    NAME.encode() + b"9",
)  # fmt: skip


def spoilt(rng: Random, content: bytes, other: bytes = b"") -> bytes:
    """Bytes with a few changes of any kind."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        start = rng.randrange(len(content) + 1)
        stop = min(len(content), start + rng.choice((1, 1, 2, 7, 40, 400)))
        old = content[start:stop]
        new = rng.choice((
            bytes(byte ^ 1 << rng.randrange(8) for byte in old[:1]) + old[1:],
            rng.randbytes(len(old)),
            b"",
            old * rng.choice((2, 3, 20)),
            rng.choice(PIECES) + old,
            rng.choice(PIECES),
            other[start:stop],
        ))  # fmt: skip
        content = content[:start] + new + content[stop:]
        if rng.random() < 0.05:
            content = content[: rng.randrange(len(content) + 1)]
    return content
