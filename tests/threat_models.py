"""The cards of `docs/concepts/threat-models.md`: `python -m tests.threat_models` writes them.

Words above the mark are written by hand; what stands below it is made from the code.
"""

from pathlib import Path

from reidrisk.attacks import Card, attack_named, card_of
from reidrisk.risk import cards
from reidrisk.risk.threat_models import card_of_model

PAGE = Path(__file__).parents[1] / "docs" / "concepts" / "threat-models.md"
MARK = "<!-- Below: written by `python -m tests.threat_models`. -->\n"


def page() -> str:
    """The page as it should be: what was written by hand, and cards as they are now."""
    above, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert mark, f"{PAGE} has lost the line {MARK!r}"
    return above + mark + "\n" + written()


def written() -> str:
    """All cards, attacks first."""
    made = {kind: [card for card in cards() if card.kind == kind] for kind in ("attack", "bound")}
    model = card_of_model(card_of(attack_named("type-aware")))
    parts = [
        "## Attacks",
        *map(_card, made["attack"]),
        "## Bounds",
        *map(_card, made["bound"]),
        "## Optima under a model",
        "Every attack whose score is a likelihood also has one, by its name. For example:",
        _card(model),
    ]
    return "\n\n".join(parts) + "\n"


def _card(card: Card) -> str:
    rows = [f"| {label} | {text.replace('|', chr(92) + '|')} |" for label, text in card.lines]
    return "\n".join(
        [f"### {card.name}, {card.kind}", "", "| Point | What it says |", "| --- | --- |", *rows]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
