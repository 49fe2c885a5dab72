"""`reidrisk calibrate`: find how much noise is enough."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reidrisk.cli import console, options

if TYPE_CHECKING:
    from reidrisk.study._calibrate import ParameterSearch

_NOT_ENOUGH = 3
"""Exit code of a search in which nothing suffices."""


@click.command()
@options.study_file()
@click.option("--vary", metavar="NAME",
              help="What to search: a number of the release, or users. If not given, the one that "
              "the release has; noise, if several.")  # fmt: skip
@click.option("--max-risk", type=options.SHARE, required=True,
              help="The most that the upper end of the risk may be: 1%.")  # fmt: skip
@click.option("--low", help="Start of the range; if not given, the release says.")
@click.option("--high", help="End of the range.")
@options.max_memory()
@options.as_json()
@options.quiet()
def calibrate(
    file: str, vary: str | None, max_risk: float, low: str | None, high: str | None,
    *, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Find how much noise is enough.

    That is the least noise whose risk is below a target with confidence; or the least of another
    parameter of the release, or of users; or the most, where less is safer. The risk is that of the
    strongest attack of the study FILE after its most slots. Values of two digits are searched by
    halving; all intervals together hold the truth with the study's level.

    The exit code is 3 if nothing in the range suffices; it is then said whether more targets would
    help. If the targets are too few to show the limit even if nobody is ever named, nothing is run
    and the exit code is 2.

    \b
    Examples:
      reidrisk calibrate study.toml --max-risk 1%
      reidrisk calibrate study.toml --vary users --max-risk 1% --low 10k --high 10M --json
    """  # fmt: skip
    from reidrisk.engines import LocalEngine
    from reidrisk.study import _calibrate
    from reidrisk.study.toml import read_study

    given = read_study(file)
    with console.Progress(quiet=quiet) as progress:
        search = _calibrate.search(
            given.study,
            given.source,
            vary,
            max_risk=max_risk,
            low=low,
            high=high,
            engine=LocalEngine(progress=progress.pairs),
            watch=lambda *step: progress(*step, found=False),
        )
    found = search.found
    if as_json:
        body = {"parameter": search.name, **asdict(found), "advice": search.advice}
        click.echo(json.dumps(body, indent=1))
    elif not quiet:
        _tell(search, level=given.study.level)
        if search.advice is not None:
            console.say(search.advice)
    if found.enough is None:
        click.get_current_context().exit(_NOT_ENOUGH)


def _tell(search: "ParameterSearch", *, level: float) -> None:
    from reidrisk.study.text.numbers import at_most, at_most_beside, in_full

    name, grows, found = search.name, search.grows, search.found
    limit = in_full(found.max_risk)
    console.table(
        (name, "right", "interval", "enough"),
        [
            (f"{one.value:g}", *console.figure(one.risk),
             "yes" if one.risk.high <= found.max_risk else "no")
            for one in found.trials
        ],
    )  # fmt: skip
    more = "More may do; raise --high"
    together = f"All intervals together hold the truth with probability {level:.0%}."
    if found.enough is None:
        console.say(
            f"No {name} in the range suffices: even at {found.trials[-1].value:g} the strongest "
            f"attack may be right in {at_most(found.trials[-1].risk.high)} of cases, above "
            f"{limit}. {together}"
        )
    elif found.not_enough is None:
        console.say(
            f"The {'smallest' if grows else 'largest'} {name} of the range, "
            f"{found.enough.value:g}, suffices: the strongest attack is right in at most "
            f"{at_most_beside(found.enough.risk.high, found.max_risk)} of cases. "
            f"{'Less may do; lower --low' if grows else more}. {together}"
        )
    else:
        console.say(
            f"{name} {found.enough.value:g} suffices: the strongest attack is right in at most "
            f"{at_most_beside(found.enough.risk.high, found.max_risk)} of cases. With "
            f"{found.not_enough.value:g} it may be right in {at_most(found.not_enough.risk.high)}, "
            f"above {limit}; more targets would tell more. {together}"
        )
