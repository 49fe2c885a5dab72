"""Study files: values of other types, keys that do not exist, extremes, depth.

Numbers that are merely large are left out where a study would honour them, with hours of work.
"""

from pathlib import Path
from random import Random

from tests.fuzz.running import NAME

BIG = ("-1", "0", "1", "2", str(2**63), "9" * 40, "9" * 5000, "1.5", "1e999", "-0.0", "nan", "inf", "true",
       '"2"', '"1k"', '""', '"all"', "[]", "[1]", "{}", "2024-01-01", "1_0", "0x2")  # fmt: skip
SHARES = ("0", "1", "0.5", '"5%"', '"100%"', '"101%"', '"-1%"', "-0.1", "nan", "inf", "true", '"x"', "[]",
          "1e-320", '"NaN%"', '"1e5%"', "0.999999999999")  # fmt: skip
TEXTS = ('""', '"x"', "3", "true", "[]", "{}", '"\\u0000"', '"\\u001b[31m"', '"' + "x" * 5000 + '"',
         '"\\u202e"', '"<b>"', f'"{NAME}8"', "1979-05-27", "'''a\nb'''")  # fmt: skip
ATTACKS = ("[]", '["hamming"]', '["hamming", "hamming"]', '["nope"]', "[1]", '"hamming"', '["os:system"]',
           '["overlap"]', '["gaps"]', '["full-information"]', '["type-aware"]', '["learned-pairs"]',
           '["json:loads"]', '["a.b.c:D"]', '["weighted-hamming", "rarity-overlap"]', "[[]]")  # fmt: skip
PATHS = ('"people.csv"', '"people.parquet"', '"plays.csv"', '"nope.csv"', '""', '"."', "3", '"study.toml"',
         '"people.tfrecord"', '"matrix.npy"', '"visits.csv"', '"\\u0000"', '"' + "x" * 300 + '"')  # fmt: skip
COLUMNS = ("{}", '{user = "user"}', '{weight = "vists"}', '{nope = "user"}', '{user = "nope"}', "[]", '["a"]',
           '{token = "epoch"}', '{user = "token"}', "{user = 3}", '{weight = "user"}', '{user = ""}')  # fmt: skip

STUDY = {
    "title": TEXTS, "unit": TEXTS, "seed": BIG, "level": SHARES, "targets": BIG, "precision": SHARES,
    "slots": ("[1]", "[1, 2, 3]", "[0]", "[9]", "[-1]", "[]", "[2, 2]", "[2, 1]", "[1.5]", '["1"]', "1",
              f"[{2**63}]", "[[1]]", "[true]"),
    "training": SHARES, "attacks": ATTACKS, "models": ATTACKS, "full_information": ("true", "false", "1", '"x"'),
    "bounds": ("[]", '["nope"]', '["guessing"]', "[1]", '["json:nope"]', '"x"'),
    "sizes": ("[]", "[10]", "[0]", "[-1]", '["10"]', "[10, 10]", "[24, 12, 6]", f"[{2**63}]", "[1e3]"),
    "beyond": ("[]", "[100]", '["1M"]', "[0]", f"[{2**63}]", f"[{'9' * 400}]", "[-5]", '["x"]'),
    "guesses": ("[]", "[1]", "[0]", "[5, 2]", "[100]", f"[{2**63}]", "[-1]", "[true]"),
    "strangers": SHARES, "present": SHARES,
    # No model that a study could train, if there were users enough and torch.
    "information": ("[]", '["counts"]', '["counts", "counts"]', '["laptop", "nope"]', '["laptop", 1]', "[1]", '"counts"',
                    "[[]]", "true", '["COUNTS"]', '["x:y"]'),
}  # fmt: skip
PEOPLE = {
    "kind": ('"table"', '"files"', '"items"', '"plays"', '"history"', '"tfrecord"', '"linked"', '"synthetic"', '"nope"', "3"),
    "path": PATHS, "domains": PATHS, "known": PATHS, "anonymous": PATHS, "columns": COLUMNS,
    "epochs": ("[1, 2]", '["1", "2"]', "[9]", "[]", "2", "[1, 1]", "[true]", "[1.5]", f"[{2**64}]"),
    "absent": ('"missing"', '"pad"', '"drop"', '"nope"', "1"), "duplicates": ('"refuse"', '"add"', '"x"'),
    "user": TEXTS, "item": TEXTS, "count": TEXTS, "epoch": TEXTS, "header": ("true", "false", '"x"'),
    "separator": ('","', '";"', '""', '"::"', '"\\n"', "3"), "strangers": ('"keep"', '"refuse"', "0.3"),
    "users": ("20", "-1", "0", '"20"', f'"{2**63}"', "1.5", "true", '"1.5k"'), "topics": ("1", "0", "20", "-1", "2.5"),
    "types": ("1", "0", "3", "-1"), "size": ("1", "5", "0", "900"), "seed": BIG,
}  # fmt: skip
RELEASE = {
    "kind": ('"topics"', '"item-samples"', '"randomised-response"', '"generalised"', '"minimum-users"',
             '"cohorts"', '"nope"', '"os:system"', "3", '"a.b:C"', '"json:loads"'),
    "noise": SHARES, "top": ("1", "3", "0", "-1", "true", "1.5", "99", str(2**63), '"3"', "1e999"),
    "topics": ("11", "0", "349", '"x"'), "samples": ("1", "3", "0", "-1", "true", '"2"'),
    "users": ("1", "5", "0", "-1", "true", '"5"', str(2**63)), "of": ('"topics"', '"cohorts users=2"', "3", '""',
              '"generalised users=2"', "{kind = 'topics'}"), "epsilon": ("1", "0", "-1", "nan", "1e999", "true"),
    "replacement": ("true", "false", "1"), "by_count": ("true", '"x"'), "tokens": ("11", "1", "0", '"x"'),
    "parents": ("[]", "[-1, 0]", "[99]", '"x"'), "unknown_key": ("1",),
}  # fmt: skip
SIGNOFF = dict.fromkeys(
    ("scope", "data", "recipients", "limit_source", "valid_until", "signer", "role"), TEXTS
)
PER_USER = {
    "users": ("5", "0", "-1", '"5"', "true"),
    "repeats": ("2", "5", "1", "0", "-1", "2.5", "true"),
}
SWEEP = {"noise": ("[0.1]", '["1%", "5%"]', "[]", "[2]", '["x"]', "[true]", "0.1", "[nan]"),
         "users": ("[10]", "[0]", "[-1]", f"[{2**63}]", '["5"]'), "top": ("[1, 2]", "[0]"), "nope": ("[1]",)}  # fmt: skip
SECTIONS = {"people": PEOPLE, "release": RELEASE, "signoff": {**SIGNOFF, "limit": SHARES}, "sweep": SWEEP,
            "per_user": PER_USER}  # fmt: skip
GOOD = {
    "study": {"slots": "[1, 2]", "targets": "20", "attacks": '["hamming"]', "seed": "3"},
    "people": {"kind": '"table"', "path": '"people.csv"'},
    "release": {"noise": '"20%"', "top": "3"},
}  # fmt: skip


def case(rng: Random, place: Path) -> tuple[str, ...]:
    """A spoilt study file, and who reads it."""
    (place / "file.toml").write_text(_text(rng), errors="replace")
    return rng.choice((
        ("study", "file.toml", "-o", "ours-run", "-q"),
        ("study", "file.toml", "-o", "ours-run", "-q"),
        ("study", "file.toml", "-o", "ours-run"),
        ("sweep", "file.toml", "--vary", "noise=1%,5%", "-o", "ours-run", "-q"),
        ("calibrate", "file.toml", "--max-risk", "50%", "-q"),
    ))  # fmt: skip


def _text(rng: Random) -> str:
    parts = {name: dict(keys) for name, keys in GOOD.items()}
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        section = rng.choice(("study", "study", "study", *SECTIONS, "release"))
        keys = STUDY if section == "study" else SECTIONS[section]
        key = rng.choice(list(keys))
        parts.setdefault(section, {})[key] = rng.choice(keys[key])
    if rng.random() < 0.1:
        parts[rng.choice(list(parts))][
            rng.choice(("slotss", "Title", '""', '"a.b"', "a.b", "kinds"))
        ] = "1"
    lines = [f"{key} = {value}" for key, value in parts.pop("study").items()]
    for name, keys in parts.items():
        lines += ["", f"[{name}]", *(f"{key} = {value}" for key, value in keys.items())]
    if rng.random() < 0.2:
        lines = rng.choice(WHOLE)(rng, lines)
    return "\n".join(lines) + "\n"


def _beside(rng: Random, lines: list[str]) -> list[str]:
    keys = rng.sample(list(RELEASE), 2)
    return [*lines, "", "[[beside]]", *(f"{key} = {rng.choice(RELEASE[key])}" for key in keys)]


WHOLE = (
    _beside, _beside,
    lambda rng, lines: [f"title = {'[' * 2000}{']' * 2000}", *lines],
    lambda rng, lines: [f"{'a.' * 1500}b = 1", *lines],
    lambda rng, lines: [f"sweep = {'{a=' * 900}1{'}' * 900}", *lines],
    lambda rng, lines: [*lines, " " * 4000 + "x"],
    lambda rng, lines: [*lines, "title" + " " * 4000],
    lambda rng, lines: [*lines, *lines],
    lambda rng, lines: lines[: rng.randrange(len(lines))],
    lambda rng, lines: [*lines, f"[{rng.choice(('nope', 'people.more', 'release', '', '[people]'))}]"],
    lambda rng, lines: ["\ufeff" + lines[0], *lines[1:]],
    lambda rng, lines: [line.replace('"', "'") for line in lines],
    lambda rng, lines: [*lines, "\x00"],
    lambda rng, lines: [],
)  # fmt: skip
