"""Section: a card for each attack and bound."""

from reidrisk.attacks.card import IN_SHORT, Card
from reidrisk.report.exhibits import Exhibit, Row, Section, words_column
from reidrisk.risk.threat_models import cards_of
from reidrisk.study.result import Result
from reidrisk.study.text.bounds import bounds_of

ORDER = 120


def section(result: Result) -> Section | None:
    """A card for each, folded away until somebody asks."""
    found = cards_of(result.attackers, bounds_of(result))
    if not found:
        return None
    lead = (
        "Each figure above holds for some attackers and under some assumptions. These cards say "
        "which: lower figures were reached, estimates are the best possible if a model holds, and "
        "upper figures are limits for every attacker whom they cover."
    )
    exhibits = tuple(_exhibit(place, card) for place, card in enumerate(found, start=1))
    return Section("threat-models", "Threat models: what does each figure rest on?", (lead,),
                   exhibits)  # fmt: skip


def _exhibit(place: int, card: Card) -> Exhibit:
    points = dict(card.lines)
    short = points.pop(IN_SHORT)
    rows: tuple[Row, ...] = tuple(
        {"card": card.name, "point": point, "says": text} for point, text in points.items()
    )
    return Exhibit(
        name=f"threat-model-{place}",
        title=f"{card.name} ({card.kind}{f', {card.side}' if card.side else ''})",
        sentence=short,
        rows=rows,
        columns=(words_column("Point", "point"), words_column("What it says", "says")),
        folded=True,
    )
