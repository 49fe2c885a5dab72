"""Section: bits of slots one by one, against whole rows."""

from reidrisk.report.bars import bit_bars
from reidrisk.report.exhibits import Exhibit, Row, Section, bit_columns, count_column, words_column
from reidrisk.study.analyses.information import INTERVALS, independence_sentence, mean_cells
from reidrisk.study.result import Independence, Result
from reidrisk.study.text.numbers import unit

ORDER = 110


def section(result: Result) -> Section | None:
    """Whether slots are independent, as the paper assumes; None if there is one slot."""
    found = [one for one in result.independence if one.slots > 1]
    if not found:
        return None
    one, several = unit(result, 1), unit(result)
    exhibit = Exhibit(
        name="independence",
        title=f"Bits that two sites share, {one} by {one} and together",
        sentence=independence_sentence(result),
        rows=tuple(row for each in found for row in _rows(each, result.level)),
        columns=(
            words_column("Taken", "taken"),
            count_column(several.capitalize(), "slots"),
            words_column("Model", "model"),
            *bit_columns(result.level),
            count_column("People", "users"),
        ),
        draw=lambda rows, look: bit_bars(
            rows,
            look,
            f"bits over all {several}",
            [f"{row['taken']} · {row['model']}" for row in rows],
        ),
        open=True,
    )
    sentence = (
        f"Attacks that add up evidence {one} by {one} take {several} to be independent. If they "
        f"are, what {several} share one by one adds up to what they share together. The other way "
        "round it is no proof."
    )
    sentences = (sentence, INTERVALS)
    return Section("independence", f"Are {several} independent?", sentences, (exhibit,))


def _rows(found: Independence, level: float) -> list[Row]:
    means = {"one by one": found.one_by_one, "together": found.together}
    return [
        {
            "taken": taken,
            "slots": found.slots,
            "model": found.model,
            **mean_cells(mean, level),
            "users": found.users,
            "measured": "yes",
        }
        for taken, mean in means.items()
    ]
