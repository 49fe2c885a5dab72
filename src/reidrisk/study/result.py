"""The records of a result, which become `result.json`.

Every record is flat and frozen, so that a result is a value: two runs of one study are equal. What
differs from run to run, such as time and machine, is not part of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from reidrisk.core.files import made_folder, written_whole
from reidrisk.core.optional import frame, html_table
from reidrisk.core.ranges import Chance, Real, Share, Unchecked
from reidrisk.estimates import (
    Bound,
    Claims,
    Decision,
    Estimate,
    Extrapolation,
    OpenSet,
    Selective,
)
from reidrisk.estimates.estimate import Setting
from reidrisk.information.records import Bits, Independence

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

__all__ = [
    "SCHEMA",
    "STRICT",
    "Attacker",
    "Bound",
    "Claims",
    "Compared",
    "Credits",
    "Decision",
    "Extrapolation",
    "Guesses",
    "Independence",
    "Leans",
    "Learned",
    "LearningCurve",
    "OpenSet",
    "Reckoned",
    "Refusal",
    "Result",
    "Risk",
    "Selective",
    "Setting",
    "Shortlist",
    "Signoff",
    "UserRisk",
    "adapter",
    "plain",
    "typed",
]

SCHEMA = "reidrisk/1"

STRICT = {
    "extra": "forbid",
    "strict": True,
    "allow_inf_nan": False,
    "json_schema_serialization_defaults_required": True,
}
"""How records are read, inner ones too: no unknown key, no text for a number, every number one."""


@dataclass(frozen=True)
class Risk:
    """How often an attack names the right user: one row of `risks`, `sizes` and sweeps."""

    attack: str
    slots: int
    users: int
    targets: int
    not_assessed: int
    value: float
    low: float
    high: float
    level: Annotated[float, Chance]
    method: str
    guessing: Annotated[float, Chance]
    setting: Annotated[Setting, Real] = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        return Estimate(self.value, self.low, self.high, self.level, self.targets, self.method)


@dataclass(frozen=True)
class UserRisk:
    """How risk is spread over users.

    `shares[i]` of them have a risk between `edges[i]` and the next edge.
    """

    attack: str
    slots: int
    users: int
    repeats: int
    mean: Estimate
    median: Estimate
    percentile_90: Estimate
    percentile_99: Estimate
    worst_decile: Estimate
    edges: Annotated[tuple[float, ...], Share]
    shares: Annotated[tuple[float, ...], Share]


@dataclass(frozen=True)
class Attacker:
    """An attack of the study in words: what it knows beside the rows, and when it is the best."""

    name: str
    knows: str
    assumes: str
    likelihood: bool


@dataclass(frozen=True)
class Guesses:
    """How often the right user is among the first few that an attacker names."""

    attack: str
    slots: int
    users: int
    guesses: int
    right: Estimate


@dataclass(frozen=True)
class Shortlist:
    """How often the right user is among the rows that an attack lists, of which it names one.

    Attributes:
        attack: Its name.
        slots: How many it has seen.
        listed: How many rows it lists at most, of all that are known.
        recall: How often the right one is among them.
    """

    attack: str
    slots: int
    listed: int
    recall: Estimate


@dataclass(frozen=True)
class Credits:
    """What became of every target, so that two runs can be compared person by person.

    Attributes:
        attack: Its name.
        slots: How many it has seen.
        people: A digest of who was attacked, in which order, and of the seed: two runs with the
            same digest attacked the same people. `study/credits.py` says what it hides.
        winners: For each target, in order, how many users share the best score if the true one is
            among them: `1` if it was named for sure; `0` if it is not, `-` if it could not be
            assessed. Words are apart by a space; `0x37` is 37 times `0`.
    """

    attack: str
    slots: int
    people: str
    winners: str


@dataclass(frozen=True)
class Signoff:
    """What a person who signs adds to the figures; empty where nothing was said.

    Attributes:
        scope: What is released, and for what.
        data: Whose data, and from when.
        recipients: Who gets it.
        knowledge: What they are taken to know.
        before: What was the case before this release.
        limit: The most that an attack may be right, if a limit was set.
        limit_source: Where the limit comes from.
        valid_until: When this must be looked at again.
        signer: Who signs.
        role: As what.
    """

    scope: str = ""
    data: str = ""
    recipients: str = ""
    knowledge: str = ""
    before: str = ""
    limit: Annotated[float | None, Share] = None
    limit_source: str = ""
    valid_until: str = ""
    signer: str = ""
    role: str = ""


Leans = Literal["high", "low", "either"]
"""Where a figure lies on average: above the truth, below, or on either side."""


@dataclass(frozen=True)
class Reckoned:
    """An information figure that was counted or learned from rows: bits per slot.

    No bound of what an attacker can do ever rests on it: those take the bits of the release alone.

    Attributes:
        figure: "entropy", "conditional entropy" or "mutual information".
        by: "counts", or the name of a model.
        how: The correction of counts; empty for a model.
        leans: Where it lies on average.
        slots: Of a row; 1 if each slot was taken by itself.
        bits: Per slot.
        low: Lower end of its interval.
        high: Upper end.
        level: Of the interval.
        users: Whom it is of.
        note: What it is, in words.
        warning: Why it may be far off; empty if nothing speaks for it.
    """

    figure: str
    by: str
    how: str
    leans: Leans
    slots: int
    bits: float
    low: float
    high: float
    level: Annotated[float, Chance]
    users: int
    note: str = ""
    warning: str = ""


@dataclass(frozen=True)
class LearningCurve:
    """How a model came to a figure.

    `looks` holds steps, and the bits per slot that were reached then: of training users, and of
    others, who decided when to stop. The time that it took is that of a machine, and not here.
    """

    figure: str
    looks: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class Learned:
    """A model that learned to write rows.

    Attributes:
        model: Its name.
        parameters: How many it has, both times it was trained.
        slots: Of a row.
        training: Users it was trained on.
        held_out: Users who decided when to stop.
        tested: Users whom its bits are of.
        curves: How it learned.
    """

    model: str
    parameters: int
    slots: int
    training: int
    held_out: int
    tested: int
    curves: tuple[LearningCurve, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """An attack that does not apply to a release, and why."""

    attack: str
    why: str


@dataclass(frozen=True)
class Compared:
    """A release among others, on the same people: how risky and how useful it is.

    Attributes:
        release: In words, as on the command line; the study's own comes first.
        slots: After how many slots: the study's most, or all that the release shows if fewer.
        risks: Of each attack that applies.
        refused: Those that do not.
        ceiling: The lowest of what is proved that no attacker exceeds, if anything is.
        real: Share of shown tokens that are real; None if what is shown are no tokens of people.
        variation: Total variation between what is shown and what people have; None likewise.
        withheld: Share of slots with nothing although the user had something to show.
        cannot: Why these people cannot be shown in this way, if they cannot: then nothing else is
            known.
    """

    release: str
    slots: int
    risks: tuple[Risk, ...] = ()
    refused: tuple[Refusal, ...] = ()
    ceiling: Bound | None = None
    real: Estimate | None = None
    variation: Estimate | None = None
    withheld: Estimate | None = None
    cannot: str = ""

    @property
    def strongest(self) -> Risk | None:
        """The attack that is right most often."""
        return max(self.risks, key=lambda risk: risk.value, default=None)


@dataclass(frozen=True)
class Result:
    """Everything a study found.

    Attributes:
        title: Of the study, in the words of who wrote it.
        study: What was run, resolved: people, release, attacks and all parameters.
        users: How many the attacker chooses among.
        targets: How many were attacked.
        slots: Numbers of slots measured, ascending; the last is the headline.
        level: Of all intervals.
        seed: Of all chance.
        risks: By attack and slots, sweeps included (`setting`).
        bounds: The spectrum, at one or more numbers of slots.
        sizes: By attack and number of users.
        extrapolations: Beyond the users measured.
        selections: The selective attacker.
        claims: Calibration of attackers.
        per_user: Spread over users.
        attackers: The attacks of the study in words.
        guesses: Attackers who may name several.
        shortlists: Attackers who list some rows at first sight, and rate only these.
        strangers: Attackers who may meet people they do not know.
        credits: What became of every target.
        information: Bits, as the release can tell them.
        reckoned: Bits that were counted or learned from rows.
        learned: The models that learned them.
        independence: What slots share one by one, against what they share together.
        releases: The study's release and others beside it.
        analyses: Records of analyses of others, by their names, as JSON has them:
            `CustomAnalysis.records` reads them.
        assumptions: What was assumed, a sentence each.
        not_covered: What this does not speak about, a sentence each.
        warnings: Why what was read may be spoilt, a sentence each: then figures may be far off.
        signoff: What the person who signs adds.
        inputs: Names and hashes of files read.
        versions: Of the package and its libraries.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=2, seed=1)
        >>> study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=40))
        >>> result = study.run(people)
        >>> [(one.attack, one.slots, round(one.value, 4)) for one in result.risks]
        [('hamming', 2, 0.0234)]
        >>> rr.Result.load(result.save("run")) == result
        True
    """

    __pydantic_config__: ClassVar[Any] = STRICT

    title: str
    study: Annotated[Mapping[str, Any], Unchecked()]
    users: int
    targets: int
    slots: tuple[int, ...]
    level: Annotated[float, Chance]
    seed: Annotated[int, Unchecked()]
    risks: tuple[Risk, ...]
    bounds: tuple[Bound, ...] = ()
    sizes: tuple[Risk, ...] = ()
    extrapolations: tuple[Extrapolation, ...] = ()
    selections: tuple[Selective, ...] = ()
    claims: tuple[Claims, ...] = ()
    per_user: tuple[UserRisk, ...] = ()
    attackers: tuple[Attacker, ...] = ()
    guesses: tuple[Guesses, ...] = ()
    shortlists: tuple[Shortlist, ...] = ()
    strangers: tuple[OpenSet, ...] = ()
    credits: tuple[Credits, ...] = ()
    information: tuple[Bits, ...] = ()
    reckoned: tuple[Reckoned, ...] = ()
    learned: tuple[Learned, ...] = ()
    independence: tuple[Independence, ...] = ()
    releases: tuple[Compared, ...] = ()
    assumptions: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    signoff: Signoff | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    analyses: Annotated[Mapping[str, tuple[Any, ...]], Real] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """The study's word for slots, in the plural."""
        return str(self.study.get("unit") or "slots")

    @property
    def attacks(self) -> tuple[str, ...]:
        """All attacks by name, in the one order that gives each its colour, shape and dash."""
        compared = tuple(risk for one in self.releases for risk in one.risks)
        found: tuple[Any, ...] = (
            *self.risks, *self.sizes, *self.extrapolations, *self.selections, *self.claims,
            *self.per_user, *self.guesses, *self.shortlists, *self.strangers, *self.credits,
            *compared,
        )  # fmt: skip
        named = [one.name for one in self.attackers] + [one.attack for one in found]
        return tuple(dict.fromkeys(named))

    def to_json(self) -> str:
        """As the text of `result.json`: same result, same text, same checksum."""
        from reidrisk.study.run_store import checksum_of

        body = {"schema": SCHEMA, "checksum": "", **plain(self)}
        body["checksum"] = checksum_of(body)
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "result.json") -> "Result":
        """Read what `to_json` wrote, also before; `name` is for messages."""
        from reidrisk.study.run_store import parsed

        return parsed(text, name)[0]

    def to_frame(self) -> Any:
        """All risks, sweeps included, as a data frame of pandas, or else of polars."""
        rows = [{**plain(risk), **risk.setting} for risk in self.risks]
        return frame([{key: row[key] for key in row if key != "setting"} for row in rows])

    def plot(self) -> Any:
        """A chart of altair: risk over slots with intervals, one line per attack, as reported."""
        from reidrisk.core.sanitize import cleaned
        from reidrisk.plotting import FILE, alone, over_slots
        from reidrisk.study.text.numbers import share_with_interval

        known = cleaned(self)
        rows = [
            {**plain(risk), "said": share_with_interval(risk)}
            for risk in known.risks
            if not risk.setting and risk.users == known.users
        ]
        return alone(over_slots(rows, FILE, known.attacks, known.unit), known.title)

    def __str__(self) -> str:
        """The verdict."""
        from reidrisk.study.text.verdict import text

        return text(self)

    def _repr_html_(self) -> str:
        rows = [
            (one.attack, str(one.slots), *(f"{x:.4%}" for x in (one.value, one.low, one.high)))
            for one in self.risks
            if not one.setting
        ]
        headings = ("attack", "slots", "correctly identified", "low", "high")
        return html_table(self.title, headings, rows)

    def save(self, folder: str | Path) -> Path:
        """Write `result.json` into a folder, which is made if it is not there.

        Args:
            folder: Where `result.json` goes; made if absent.
        """
        file = made_folder(folder) / "result.json"
        with written_whole(file) as (part,):
            part.write_text(self.to_json(), encoding="utf-8", newline="\n")
        return file

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read a result: `result.json`, or the folder that holds it.

        Args:
            path: A `result.json`, or the folder of a run.
        """
        from reidrisk.study.run_store import Stored

        return Stored.read(path).result


def plain(value: Any) -> Any:
    """Records as JSON has them: dictionaries and lists.

    Args:
        value: A record, or records in tuples, lists or mappings.
    """
    from pydantic_core import to_jsonable_python

    if isinstance(value, Result):
        body = adapter(Result).dump_python(value, mode="json", warnings="none")
        # Results of `reidrisk/1` that hold no records of others do not name them.
        return {name: body[name] for name in body if name != "analyses" or body[name]}
    if is_dataclass(value):
        kind: Any = tuple[type(value)]  # type: ignore[misc]
        return adapter(kind).dump_python((value,), mode="json", warnings="none")[0]
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return to_jsonable_python(value, inf_nan_mode="constants")


def typed(kind: Any, value: Any) -> Any:
    """The reverse.

    Raises:
        ValueError: It is no such record; says where and why.
    """
    from pydantic import ValidationError

    try:
        # As text, since only there a list stands for a tuple and yet "1" for no number.
        return adapter(kind).validate_json(json.dumps(value))
    except ValidationError as wrong:
        raise ValueError(_first_of(wrong)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@cache
def adapter(kind: Any) -> "TypeAdapter[Any]":
    """What reads records from JSON and knows their schema."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind) if kind is Result else TypeAdapter(kind, config=STRICT)  # type: ignore[arg-type]


def _first_of(wrong: "ValidationError") -> str:
    """Where something is wrong first, and what."""
    first = wrong.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "everything"
    return f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}"
