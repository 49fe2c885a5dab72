"""How much noise is enough."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reidrisk.cli import options, show

if TYPE_CHECKING:
    from reidrisk.estimates import Estimate
    from reidrisk.study.search import Calibration

_RANGES = {"noise": ("0.01", "0.99"), "top": ("1", "50"), "users": ("1k", "1M")}


@click.command()
@click.argument("file", type=click.Path())
@click.option("--vary", type=click.Choice(list(_RANGES)), default="noise", show_default=True,
              help="What to search; more of each is safer.")  # fmt: skip
@click.option("--max-risk", type=options.SHARE, required=True,
              help="The most that the upper end of the risk may be: 1%.")  # fmt: skip
@click.option("--low", help="Begin of the range.  [noise 0.01, top 1, users 1k]")
@click.option("--high", help="End of the range.  [noise 0.99, top 50, users 1M]")
@options.as_json()
@options.quiet()
def calibrate(
    file: str, vary: str, max_risk: float, low: str | None, high: str | None,
    *, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Find how much noise is enough.

    That is the smallest noise (or top, or users) whose risk is below a target with confidence. The
    risk is that of the strongest attack of the study FILE after its most slots. Values of two
    digits are searched by halving; all intervals together hold the truth with the study's level.

    \b
    Examples:
      reidrisk calibrate study.toml --vary noise --max-risk 1%
      reidrisk calibrate study.toml --vary users --max-risk 1% --low 10k --high 10M --json
    """  # fmt: skip
    from reidrisk.engines import LocalEngine
    from reidrisk.study import quantities, search
    from reidrisk.study.toml import read_study

    read = quantities.share if vary == "noise" else quantities.size
    ends = [read(given or usual, name) for given, usual, name in
            zip((low, high), _RANGES[vary], ("low", "high"), strict=True)]  # fmt: skip
    values, given = search.candidates(*ends), read_study(file)
    most = search.evaluations(values)
    level = search.each_level(given.study.level, most)
    with show.Progress(quiet=quiet) as progress:
        engine, done = LocalEngine(progress=progress.pairs), iter(range(most))

        def measure(value: float) -> "Estimate":
            progress(f"{vary} {value:g}", next(done), most, found=False)
            return search.risk_at(
                given.study, given.people, vary, value, engine=engine, level=level
            )

        found = search.calibrate(measure, values, max_risk=max_risk)
    if as_json:
        click.echo(json.dumps({"parameter": vary, **asdict(found)}, indent=1))
    elif not quiet:
        _tell(found, vary, level=given.study.level)


def _tell(found: "Calibration", name: str, *, level: float) -> None:
    show.table(
        (name, "right", "interval", "enough"),
        [
            (f"{one.value:g}", f"{one.risk.value:.3%}",
             f"{one.risk.low:.3%} to {one.risk.high:.3%}",
             "yes" if one.risk.high <= found.max_risk else "no")
            for one in found.trials
        ],
    )  # fmt: skip
    together = f"All intervals together hold the truth with probability {level:.0%}."
    if found.enough is None:
        show.say(
            f"No {name} in the range suffices: even at {found.trials[-1].value:g} the risk may be "
            f"{found.trials[-1].risk.high:.3%}, above {found.max_risk:.3%}. {together}"
        )
    elif found.not_enough is None:
        show.say(
            f"The smallest {name} of the range, {found.enough.value:g}, suffices: the risk is at "
            f"most {found.enough.risk.high:.3%}. Less may do; lower --low. {together}"
        )
    else:
        show.say(
            f"{name} {found.enough.value:g} suffices: the risk is at most "
            f"{found.enough.risk.high:.3%}. With {found.not_enough.value:g} it may be "
            f"{found.not_enough.risk.high:.3%}, above {found.max_risk:.3%}; more targets would "
            f"tell more. {together}"
        )
