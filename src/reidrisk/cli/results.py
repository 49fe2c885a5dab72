"""`reidrisk report` and `gate`: what is made of a result."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

import reidrisk as rr
from reidrisk.cli import console, options
from reidrisk.core.doubts import ABOUT_STRENGTH, CODES
from reidrisk.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reidrisk.core.doubts import Doubt
    from reidrisk.study.doubts import JudgedRun, Judgement
    from reidrisk.study.gate import Check, Limits
    from reidrisk.study.result import Result

_EXCEEDED = 3
"""Exit code of a gate that is not passed."""


@click.command()
@click.argument("run", type=click.Path())
@options.output("FILE", help="The page; report.html or signoff.html, if not given.")
@click.option("--edition", type=click.Choice(["long", "signoff"]), default="long",
              show_default=True,
              help="long holds everything; signoff prints on two pages, with a place to "
              "sign.")  # fmt: skip
@click.option("--files", type=click.Path(), metavar="FOLDER",
              help="Also write each chart as SVG and PNG, and its data as CSV; long edition "
              "only.")  # fmt: skip
@click.option("--section", "paths", multiple=True, metavar="MODULE:FUNCTION",
              help="Add a section of your own at the end; may be repeated; long edition "
              "only.")  # fmt: skip
@click.option("--accept", "codes", multiple=True, metavar="CODE",
              help="Accept this doubt by name, as [signoff] does with accept; may be repeated; "
              "sign-off only.")  # fmt: skip
@options.quiet()
def report(
    run: str, output: str | None, edition: str, files: str | None, paths: tuple[str, ...],
    codes: tuple[str, ...], *, quiet: bool,
) -> None:  # fmt: skip
    """Write the report of a run.

    RUN is a run's folder or a result.json. The report is one page that needs no network. What the
    sign-off says beside the figures comes from [signoff] of the study file; anything missing
    becomes a line to fill in by hand.

    \b
    Examples:
      reidrisk report run/ -o report.html
      reidrisk report run/ --edition signoff --accept unassessed
      reidrisk report result.json --files charts/
      reidrisk report run/ --section mypackage.mysection:section
    """
    if edition != "long" and (files is not None or paths):
        named = "--files goes" if files is not None else "--section goes"
        raise click.UsageError(f"{named} with the long edition only; leave it or --edition out")
    if codes and edition != "signoff":
        raise click.UsageError(
            "--accept goes with --edition signoff only; give it, or leave it out"
        )
    from reidrisk.study.doubts import accepting
    from reidrisk.study.run_store import Stored

    more, stored = tuple(rr.report.section_at(path) for path in paths), Stored.read(run)
    result = stored.result
    if edition == "signoff":
        name, page = "sign-off", output or "signoff.html"
        result = accepting(result, codes)
        rr.report.html(result, page, edition="signoff", digest=stored.sha256)
    else:
        name, page = "report", output or "report.html"
        rr.report.html(result, page, sections=more)
    if files is not None:
        rr.report.files(result, files, sections=more)
    if not quiet:
        click.echo(f"The {name}: {page}")


class _WithCodes(click.Command):
    """A command whose help ends with the codes of doubts."""

    def format_epilog(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each code, marked if it is about strength, and what it means."""
        with formatter.section("Codes of doubts"):
            formatter.write_dl(
                [(f"{code}{' +' * (code in ABOUT_STRENGTH)}", text) for code, text in CODES.items()]
            )


@click.command(cls=_WithCodes)
@click.argument("run", type=click.Path())
@click.option("--max-risk", type=options.SHARE,
              help="The most that the upper end of a risk may be: 1%.")  # fmt: skip
@click.option("--side", type=click.Choice(["lower", "upper"]), default="lower", show_default=True,
              help="What --max-risk judges. lower: what attacks did; a stronger attacker may do "
              "better. upper: what is proved that no attacker exceeds; if nothing is, it does not "
              "pass.")  # fmt: skip
@click.option("--worst-tenth", type=options.SHARE,
              help="The highest mean risk of the tenth of users who are most at risk.")  # fmt: skip
@click.option("--false-claims", type=options.SHARE,
              help="The most strangers that may be accused by attackers who aim to accuse no "
              "more than that.")  # fmt: skip
@click.option("--compare", "last", type=click.Path(), metavar="RUN",
              help="A run that this one may not be worse than; needs --worse-by.")  # fmt: skip
@click.option("--worse-by", type=options.SHARE,
              help="By how much the risk may be higher, in points: 0.5%. The upper end of the "
              "difference counts.")  # fmt: skip
@click.option("--slots", type=options.SIZE, help="Only after so many slots.")
@click.option("--attack", help="Only this attack.")
@click.option("--accept", "codes", multiple=True, metavar="CODE",
              help="Accept this doubt by name; may be repeated.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Does nothing: doubts fail without it.")
@options.as_json()
@options.quiet()
def gate(
    run: str, last: str | None, codes: tuple[str, ...],
    *, strict: bool, as_json: bool, quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Fail if a risk may be too high.

    Passes only if everything asked for is in RUN, a run's folder or a result.json, and below its
    limit. The upper end of each interval counts, so a study with few targets does not pass by
    being vague. Sweeps do not count. Write limits as 1% or 0.01; a bare 1 is refused.

    A doubt is a reason not to trust a low figure. It is printed on stderr with its code, and fails
    the gate until --accept names it; nothing accepts all of them. A doubt whether attackers were
    strong enough, marked + below, fails no limit that is proved for all of them.

    The exit code is 0 if passed, 3 if not, and 2 if something asked for cannot be judged.

    \b
    Examples:
      reidrisk gate run/ --max-risk 1%
      reidrisk gate run/ --max-risk 5% --side upper
      reidrisk gate run/ --max-risk 1% --worst-tenth 5%
      reidrisk gate run/ --max-risk 1% --accept unassessed
      reidrisk gate run/ --compare last-release/ --worse-by 0.5%
      reidrisk gate result.json --max-risk 0.5% --slots 8 --attack weighted-hamming --json
    """
    from reidrisk.study.doubts import STRICT, judge_run
    from reidrisk.study.gate import Limits
    from reidrisk.study.result import SCHEMA

    limits = Limits(**asked)
    _check_limits(limits, last)
    found = judge_run(run, limits, last=last, accept=codes)
    stored, other = found.stored, found.other
    if as_json:
        body = {"schema": SCHEMA, "passed": found.passed, "run": run,
                "sha256": stored.sha256, "title": stored.result.title, "unit": stored.result.unit,
                "limits": asdict(limits), "compared_with": last,
                "compared_sha256": None if other is None else other.sha256,
                "doubts": _told(found.doubts), "accepted": _told(found.accepted),
                "answered": _told(found.answered), "checked": len(found.checks),
                "failing": [_record(check) for check in found.failing],
                "checks": [_record(check) for check in found.checks]}  # fmt: skip
        click.echo(json.dumps(body, indent=1, ensure_ascii=False))
    elif not quiet:
        _tell(run, found, limits)
    _tell_doubts(found)
    if strict:
        click.echo(f"--{STRICT}", err=True)
    if not found.passed:
        click.get_current_context().exit(_EXCEEDED)


def _check_limits(limits: "Limits", last: str | None) -> None:
    """Refuse, before anything is read, options that ask for nothing or need each other."""
    given = (limits.max_risk, limits.worst_tenth, limits.false_claims, limits.worse_by)
    if (last is None) != (limits.worse_by is None):
        raise InvalidInput(
            "--compare and --worse-by go together: the run to compare with, and by how much this "
            "one may be worse, such as --worse-by 0.5%. There is no usual value: that two runs do "
            "not differ at all can never be shown by a sample",
            code="missing-option",
        )
    if all(limit is None for limit in given):
        raise InvalidInput(
            "there is nothing to check, so it does not pass; give a limit, such as --max-risk 1%",
            code="nothing-to-check",
        )
    if limits.side == "upper" and limits.max_risk is None:
        raise InvalidInput(
            "--side upper says what --max-risk judges; give --max-risk, such as 1%",
            code="missing-option",
        )


def _told(doubts: "Sequence[Doubt]") -> list[dict[str, str]]:
    """Doubts for machines."""
    return [asdict(doubt) for doubt in doubts]


def _record(check: "Check") -> dict[str, Any]:
    """A check for machines: its figure, if there is one, beside all else."""
    figure = {} if check.figure is None else asdict(check.figure)
    return {"passed": check.passed, **asdict(check), "figure": figure or None}


def _tell(run: str, found: "JudgedRun", limits: "Limits") -> None:
    """Which run was judged, by its bytes, each figure above its limit, and the outcome."""
    from reidrisk.core.sanitize import cleaned
    from reidrisk.study.text.numbers import at_most_beside, in_full, share

    stored, checks = found.stored, found.checks
    console.line(f"{run}: {cleaned(stored.result.title)}")
    click.echo(f"judged: {stored.file}\nSHA-256 {stored.sha256}")
    for check in found.failing:
        limit = in_full(check.limit)
        if check.figure is None:
            console.line(f"{check.what}; the limit is {limit}")
        else:
            high = at_most_beside(check.figure.high, check.limit)
            console.line(f"{check.what}: {share(check.figure)}, upper end {high}, above {limit}")
    if failing := len(found.failing):
        console.line(f"not passed: {failing} of {_figures(len(checks))} not below the limit")
        return
    if (first := _no_more_than(stored.result, limits)) is not None:
        console.line(first)
    said = f"not passed, since there are doubts ({_codes(found.doubts)})"
    if found.passed:
        by_name = f", with doubts accepted by name ({_codes(found.accepted)})"
        said = f"passed{by_name if found.accepted else ''}"
    console.line(f"{said}: {_figures(len(checks))}, none above the limit{_levels(checks)}")
    for name, option in _LIMITS.items():
        if own := [check for check in checks if check.limit_of == name and check.figure]:
            worst = max(own, key=lambda check: check.figure.high if check.figure else 1)
            assert worst.figure is not None
            console.line(
                f"{option} {in_full(worst.limit)}: the highest upper end is "
                f"{at_most_beside(worst.figure.high, worst.limit)}, {worst.what}"
            )


def _no_more_than(result: "Result", limits: "Limits") -> str | None:
    """What a limit that only attacks were held against does not say; None if there is none."""
    from reidrisk.study.doubts import ruled_out
    from reidrisk.study.text.numbers import at_most, in_full

    if limits.max_risk is None or limits.side == "upper":
        return None
    least, limit = ruled_out(result, limits), in_full(limits.max_risk)
    if least <= limits.max_risk:
        return None
    who = "no attack we have exceeds" if limits.attack is None else f"{limits.attack} keeps to"
    more = "nothing rules out more" if least >= 1 else f"up to {at_most(least)} is not ruled out"
    return f"{who} {limit}; {more}"


def _codes(doubts: "Sequence[Doubt]") -> str:
    return ", ".join(dict.fromkeys(doubt.code for doubt in doubts))


_LIMITS = {
    "max_risk": "--max-risk",
    "worst_tenth": "--worst-tenth",
    "false_claims": "--false-claims",
    "worse_by": "--worse-by",
}


def _figures(number: int) -> str:
    return "1 figure" if number == 1 else f"{number} figures"


def _levels(checks: "Sequence[Check]") -> str:
    """With what figures hold, but for those that are computed and surely do."""
    from reidrisk.study.text.numbers import percent

    levels = {check.figure.level for check in checks if check.figure is not None} - {1.0}
    said = dict.fromkeys(percent(level) for level in sorted(levels))
    return f" ({' and '.join(said)} intervals)" if said else ""


def _tell_doubts(found: "Judgement") -> None:
    """On stderr, a line each, also if nothing else is to be printed."""
    for said, doubts in (
        ("not passed", found.doubts),
        ("accepted by name", found.accepted),
        ("answered by what is proved", found.answered),
    ):
        for doubt in doubts:
            click.echo(f"{said}: {doubt}", err=True)
    if found.doubts:
        code = found.doubts[0].code
        click.echo(
            f"`reidrisk gate --help` says what codes mean; whoever answers for it accepts a doubt "
            f"by its code: --accept {code}",
            err=True,
        )
    for sentence in found.aside:
        click.echo(sentence, err=True)
