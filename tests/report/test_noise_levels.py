"""What noise buys, as it is read: the sentence, the table, and the picture."""

from dataclasses import replace

import pytest
from tests.report.noisy import LITTLE, MUCH, level
from tests.report.sample import bare, bound, spread

from reidrisk.plotting import FILE, PAGE
from reidrisk.report.exhibits import NOTHING
from reidrisk.report.sections import noise_levels


def made(*levels, scale=0.1):
    study = {"release": {"kind": "GaussianNoise", "scale": scale}}
    return noise_levels.section(bare(noise_levels=levels, study=study))


def exhibit(*levels, **more):
    (found,) = made(*levels, **more).exhibits
    return found


def drawn(shown, look):
    return shown.draw(shown.rows, look).to_dict()


def test_nobody_asked():
    assert made() is None


def test_the_sentence_says_what_more_noise_buys():
    assert exhibit(LITTLE, MUCH).sentence == (
        "Noise of scale 0.5 (epsilon 40) takes the strongest attack from 90 % of people, at scale "
        "0.1 (epsilon 200), to 3.0 % (2.6 % to 3.4 %), and nobody can name more than 6 %."
    )


def test_one_scale_alone_is_said():
    assert exhibit(LITTLE).sentence == (
        "With noise of scale 0.1 (epsilon 200) the strongest attack names 90 % (88 % to 92 %) of "
        "people, and no limit is proved."
    )


def test_a_limit_that_is_no_proof_says_how_sure_it_is():
    sampled = bound("envelope", "upper", spread(0.06))
    found = exhibit(replace(MUCH, proved=sampled))
    assert found.sentence.endswith("with 95 % confidence.")
    assert (
        found.columns[8].show(found.rows[0]).replace("\N{NO-BREAK SPACE}", " ") == "95 % confidence"
    )


def test_the_table_holds_all_figures():
    found = exhibit(LITTLE, MUCH)
    shown = [[column.show(row) for column in found.columns] for row in found.rows]
    assert [row[:4] for row in shown] == [
        ["0.1 (this study)", "10", "200", "90 %"],
        ["0.5", "2", "40", "3.0 %"],
    ]
    assert [row[7:11] for row in shown] == [
        [NOTHING, NOTHING, NOTHING, "hamming"],
        ["6 %", "proved", "cone", "hamming"],
    ]


@pytest.mark.parametrize("look", [PAGE, FILE])
def test_epsilon_and_mu_stand_below_each_scale(look):
    spec = str(drawn(exhibit(LITTLE, MUCH), look))
    for words in ("ε 200", "μ 10", "ε 40", "μ 2", "guessing: one of 400", "ruled out", "found"):
        assert words in spec


def test_a_file_says_by_itself_what_it_shows():
    """It is passed around without the page."""
    title = drawn(exhibit(LITTLE, MUCH), FILE)["title"]
    assert title["text"] == "What this noise buys"
    assert " ".join(title["subtitle"]) == exhibit(LITTLE, MUCH).sentence
    assert "title" not in drawn(exhibit(LITTLE, MUCH), PAGE)


def test_the_ring_is_drawn_where_a_key_explains_it():
    ring = str(280)
    assert ring in str(drawn(exhibit(LITTLE, MUCH), PAGE))
    assert ring not in str(drawn(exhibit(LITTLE, MUCH), FILE))
    assert any("this study: scale 0.1" in key.text for key in exhibit(LITTLE, MUCH).keys)


@pytest.mark.parametrize(("scale", "colour"), [(0.1, 0), (0.5, 1)])
def test_found_has_the_colour_of_the_strongest_attack_at_the_study_s_own_scale(scale, colour):
    other = replace(MUCH, attack="weighted-hamming")
    first, *_ = exhibit(LITTLE, other, scale=scale).keys
    assert first.colour == colour


def test_nothing_found_has_no_mark():
    rows = drawn(exhibit(level(1.0, 0.0, 0.01, 0.02)), PAGE)["data"]["values"]
    assert [row["at"] for row in rows] == [0.02, 0.01, 0.0]
    assert all(row["from"] > 0 for row in rows)


def test_attackers_who_see_everybody_are_set_apart():
    crowd = replace(MUCH, attack="cosine-csls", uses="all rows")
    assert "Cosine-csls compares the rows of all targets" in made(LITTLE, crowd).sentences[1]
    assert len(made(LITTLE, MUCH).sentences) == 1


def test_delta_is_said_where_epsilon_may_fail():
    assert "delta = 1e-06" in made(MUCH).sentences[0]
    assert "delta" not in made(replace(MUCH, delta=0.0)).sentences[0]
