"""The result of a study, which becomes `result.json`: records of its analyses.

Every record is flat and frozen, so that a result is a value: two runs of one study are equal. What
differs from run to run, such as time and machine, is not part of it.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, overload

from reidrisk.core.doubts import Code, Doubt
from reidrisk.core.files import made_folder, written_whole
from reidrisk.core.optional import frame, html_table
from reidrisk.core.ranges import Chance, Real, Share, Unchecked
from reidrisk.estimates import Bound, Claims, Decision, Extrapolation, OpenSet, Selective
from reidrisk.estimates.estimate import Setting
from reidrisk.information.records import Bits, Independence
from reidrisk.risk.records import Assignment, ErrorRates
from reidrisk.risk.tables.records import SinglingRecord, Unicity
from reidrisk.study.analyses.information import Leans, Learned, LearningCurve, Reckoned
from reidrisk.study.analyses.noise_levels import NoiseLevel
from reidrisk.study.analyses.per_user import UserRisk
from reidrisk.study.analyses.releases import OF_VECTORS, Compared, Refusal
from reidrisk.study.analyses.risks import Attacker, Guesses, Risk, Shortlist
from reidrisk.study.analyses.strongest import Strongest
from reidrisk.study.credits import Credits
from reidrisk.study.records import STRICT, plain

if TYPE_CHECKING:
    from reidrisk.study.doubts import Judgement

__all__ = [
    "SCHEMA",
    "Assignment",
    "Attacker",
    "Bound",
    "Claims",
    "Compared",
    "Credits",
    "Decision",
    "Doubt",
    "ErrorRates",
    "Extrapolation",
    "Guesses",
    "Independence",
    "Leans",
    "Learned",
    "LearningCurve",
    "NoiseLevel",
    "OpenSet",
    "Reckoned",
    "Refusal",
    "Result",
    "Risk",
    "Selective",
    "Setting",
    "Shortlist",
    "Signoff",
    "Strongest",
    "UserRisk",
]

SCHEMA = "reidrisk/1"

ADDED = (
    "analyses", "singling", "unicity", "doubts", "strongest", "assignments", "error_rates",
    "noise_levels",
)  # fmt: skip
"""Fields that came to `reidrisk/1` later: a file has them only where there is something in them."""


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
        accept: Codes of the doubts that whoever signs accepts.
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
    accept: tuple[Code, ...] = ()


@dataclass(frozen=True)
class Result:
    """Everything a study found, or what singling and unicity found in one table.

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
        singling: Who is alone in a table, if that was asked.
        unicity: How many points single a person out, if that was asked.
        doubts: Named reasons not to trust a low figure, found when the study ran.
        strongest: The strongest attack of those tried, by what attackers were given.
        assignments: Attackers who name everybody at once, and nobody twice.
        error_rates: The figures of biometrics, of each attack.
        noise_levels: What noise of several scales buys.
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
    singling: SinglingRecord | None = None
    unicity: Unicity | None = None
    doubts: tuple[Doubt, ...] = ()
    strongest: tuple[Strongest, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    error_rates: tuple[ErrorRates, ...] = ()
    noise_levels: tuple[NoiseLevel, ...] = ()

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
            *compared, *self.assignments, *self.error_rates, *self.noise_levels,
        )  # fmt: skip
        named = [one.name for one in self.attackers] + [one.attack for one in found]
        return tuple(dict.fromkeys(named))

    def to_json(self) -> str:
        """As the text of `result.json`: same result, same text, same checksum."""
        from reidrisk.study.run_store import checksum_of

        body = {"schema": SCHEMA, "checksum": "", **plain(self)}
        # Files of `reidrisk/1` name these only where there are any: they came later.
        body = {key: value for key, value in body.items() if value or key not in ADDED}
        if self.signoff is not None and not self.signoff.accept:
            del body["signoff"]["accept"]  # this came later too
        for one in body["releases"]:
            for name in OF_VECTORS:  # and these
                if one[name] is None:
                    del one[name]
        body["checksum"] = checksum_of(body)
        # NaN is no JSON, and readers of results refuse it.
        return json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "result.json") -> "Result":
        """Read what `to_json` wrote, also before; `name` is for messages.

        Args:
            text: Of the file.
            name: Of the file, for messages.
        """
        from reidrisk.study.run_store import parsed

        return parsed(text, name)[0]

    def to_frame(self) -> Any:
        """All risks, sweeps included, as a data frame.

        It is of the library whose frames came in, else of pandas, or else of polars.
        """
        rows = [{**plain(risk), **risk.setting} for risk in self.risks]
        return frame([{key: row[key] for key in row if key != "setting"} for row in rows], self)

    def plot(self) -> Any:
        """A chart of altair: risk over slots with intervals, one line per attack, as reported.

        Of a table, it is the first chart of its report: groups by size, or points.
        """
        if self.singling is not None or self.unicity is not None:
            from reidrisk.study.table_results import plotted

            return plotted(self)
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

    @overload
    def report(self, path: None = None, *, edition: Literal["long", "signoff"] = ...) -> str: ...
    @overload
    def report(
        self, path: str | os.PathLike[str], *, edition: Literal["long", "signoff"] = ...
    ) -> Path: ...
    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        edition: Literal["long", "signoff"] = "long",
    ) -> str | Path:
        """Write the report, or return its HTML if no path is given.

        Args:
            path: Where to.
            edition: "long" holds everything; "signoff" prints on two pages, with a place to sign.
        """
        from reidrisk.report.write import html, page_of

        return page_of(self, edition) if path is None else html(self, path, edition=edition)

    def gate(
        self,
        *,
        max_risk: float | str | None = None,
        side: Literal["lower", "upper"] = "lower",
        worst_tenth: float | str | None = None,
        false_claims: float | str | None = None,
        worse_by: float | str | None = None,
        before: "Result | None" = None,
        slots: int | None = None,
        attack: str | None = None,
        accept: Iterable[str] = (),
        strict: bool = False,
    ) -> "Judgement":
        """Judge this result against limits, by the rule of `reidrisk gate`.

        The upper end of each interval counts, and what is asked for but not there does not pass.
        Nor does a result with doubts, until each is accepted by its code.
        Limits are shares, such as 0.05 or "5%".

        Args:
            max_risk: The most that attacks may be right, or, on the upper side, could ever be.
            side: Whether attacks are judged ("lower") or what is proved ("upper").
            worst_tenth: The most that the tenth of users at the highest risk may be named.
            false_claims: The most strangers of whom an attacker may claim to know them.
            worse_by: By how much the risk may be higher than that of `before`.
            before: The result that this one may not be worse than.
            slots: Only after so many.
            attack: Only this one.
            accept: Codes of doubts that are accepted, such as `("blind",)`.
            strict: Does nothing any more: a doubt always fails, until it is accepted.

        Returns:
            Every check with its figure, doubts, and whether it `passed`.
        """
        from reidrisk.study.doubts import STRICT, judge_result
        from reidrisk.study.gate import Limits
        from reidrisk.study.quantities import share

        given = {"max_risk": max_risk, "worst_tenth": worst_tenth, "false_claims": false_claims,
                 "worse_by": worse_by}  # fmt: skip
        shares = {
            name: None if limit is None else share(limit, name) for name, limit in given.items()
        }
        limits = Limits(**shares, side=side, slots=slots, attack=attack)
        judged = judge_result(self, limits, before, accept=accept)
        return replace(judged, aside=(*judged.aside, STRICT)) if strict else judged

    def _repr_html_(self) -> str:
        table = self.singling or self.unicity
        if table is not None:
            return table._repr_html_()
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
        text, file = self.to_json(), made_folder(folder) / "result.json"
        with written_whole(file) as (part,):
            # The same bytes on every system: a run is recognised and signed by them.
            part.write_text(text, encoding="utf-8", newline="\n")
        return file

    @classmethod
    def load(cls, path: str | Path) -> "Result":
        """Read a result: `result.json`, or the folder that holds it.

        Args:
            path: A `result.json`, or the folder of a run.
        """
        from reidrisk.study.run_store import Stored

        return Stored.read(path).result
