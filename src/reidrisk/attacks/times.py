"""Attack: compare only when the items of users came.

References:
    Y. de Montjoye, C. Hidalgo, M. Verleysen and V. Blondel, Unique in the Crowd: the privacy bounds
    of human mobility, Scientific Reports 3, 2013: few times and places single people out.
"""

from dataclasses import dataclass
from typing import ClassVar

from reidrisk.attacks.bag_tables import tables_of
from reidrisk.attacks.card import PAPER
from reidrisk.attacks.cosine import cosine_of_times, with_hubs
from reidrisk.attacks.protocol import ALL_ROWS, View, check_needs
from reidrisk.scores.inner_product import InnerProduct


@dataclass(frozen=True, slots=True)
class Times:
    """Guess the user who acts at about the same times, whatever the items, hubs corrected.

    A visit counts by its hour of the week, its part of the week, its weekday, its hour, and the
    time since the visit before; and by its date where that tells more people apart. Rows are
    compared by the cosine of these counts, weighted as tells most rows apart, judged without the
    truth.

    Example:
        >>> rr.attacks.Times().needs
        ('anonymous', 'times')
    """

    name: ClassVar[str] = "times"
    knows: ClassVar[str] = "nothing but when the items of both tables came"
    assumes: ClassVar[str] = (
        "Close to best if people act at hours and weekdays of their own, or if both tables hold "
        "the same days, and items say nothing."
    )
    limits: ClassVar[str] = (
        "Ignores items. Where times are days, it sees no hours. Takes both tables to be of one "
        "time zone."
    )
    cost: ClassVar[str] = (
        "Four to eight weightings are tried on 1,000 anonymous rows. The search compares every "
        "target with every known row, twice."
    )
    source: ClassVar[str] = (
        f"Not in {PAPER}: compare de Montjoye and others, Scientific Reports 2013."
    )
    likelihood: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("anonymous", "times")
    uses: ClassVar[str] = ALL_ROWS
    reads_times: ClassVar[bool] = True

    def fit(self, view: View) -> InnerProduct:
        """The cosine of when items came, with the weighting that tells most rows apart."""
        check_needs(self, view)
        tables = tables_of(view, self.name)
        return with_hubs(cosine_of_times(tables, view.times), tables)
