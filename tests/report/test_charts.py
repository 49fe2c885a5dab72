"""Charts: one attack looks the same everywhere, and a study is found on its own sweeps."""

from dataclasses import replace

import pytest
from tests.report.noisy import LITTLE, MUCH
from tests.report.reckoned import reckoned_sample
from tests.report.sample import bare, risk, sample
from tests.report.signed import STRANGERS

from reidrisk.plotting import DASHES, FILE, GLYPHS, PAGE, SHAPES, chart, layer
from reidrisk.report import charts
from reidrisk.report.sections import sections, sweeps

CHANNELS = {"color", "shape", "strokeDash"}


def parts(spec):
    """Everything in a specification that has a mark or an encoding."""
    yield spec
    for inner in spec.get("layer", ()):
        yield from parts(inner)


def encodings(spec):
    """Every channel of every part, with what it encodes."""
    for part in parts(spec):
        for channel, about in part.get("encoding", {}).items():
            if isinstance(about, dict):
                yield channel, about


def drawn(result, look=PAGE):
    return {
        exhibit.name: exhibit.draw(exhibit.rows, look).to_dict()
        for section in sections(result)
        for exhibit in section.exhibits
        if exhibit.draw
    }


def results():
    """Of every chart there is."""
    noisy = bare(noise_levels=(LITTLE, MUCH))
    return {"sample": sample(), "some": some(), "reckoned": reckoned_sample(), "noisy": noisy}


@pytest.mark.parametrize("look", [PAGE, FILE])
@pytest.mark.parametrize("name", ["sample", "some", "reckoned", "noisy"])
def test_altair_finds_every_chart_to_be_vega_lite(name, look):
    altair = pytest.importorskip("altair")
    for section in sections(results()[name]):
        for exhibit in section.exhibits:
            if exhibit.draw:
                spec = charts.specification(exhibit, look, charts.WIDTH)
                altair.LayerChart.from_dict(spec)
                assert spec["data"]["values"], exhibit.name


def test_rows_of_several_layers_are_written_once():
    rows, others = [{"a": 1}], [{"a": 2}]
    base, beside = chart(rows), chart(others)
    drawn = layer(beside.mark("rule"), base.mark("point"), base.mark("line")).to_dict()
    assert drawn["data"] == {"values": rows}
    assert [one.get("data") for one in drawn["layer"]] == [{"values": others}, None, None]


def looks(result, look=PAGE):
    """For each chart and channel, what stands for each attack."""
    for name, spec in drawn(result, look).items():
        for channel, about in encodings(spec):
            if channel in CHANNELS and about.get("field") in {"attack", "mark"}:
                scale = about["scale"]
                yield name, channel, dict(zip(scale["domain"], scale["range"], strict=True))


def some():
    """The sample with an attack that only some charts show, and sweeps of the last attack alone."""
    last = sample().attacks[-1]
    return replace(
        sample(),
        risks=tuple(one for one in sample().risks if not one.setting or one.attack == last),
        sizes=tuple(one for one in sample().sizes if one.attack == last),
        extrapolations=tuple(one for one in sample().extrapolations if one.attack == last),
        strangers=STRANGERS,
    )


@pytest.mark.parametrize("look", [PAGE, FILE])
@pytest.mark.parametrize("turned", [False, True])
def test_an_attack_looks_the_same_in_every_chart(look, turned):
    result = some()
    if turned:
        result = replace(result, attackers=result.attackers[::-1])
    places = {attack: place for place, attack in enumerate(result.attacks)}
    assert next(iter(places)) == ("type-aware" if turned else "hamming")
    seen = set()
    for name, channel, pairs in looks(result, look):
        for attack, place in places.items():
            wanted = {
                "color": look.colour(place),
                "shape": SHAPES[place],
                "strokeDash": DASHES[place],
            }
            assert pairs[attack] == wanted[channel], (name, channel, attack)
        seen.add((name, channel))
    lines = {"slots", "guesses", "sizes", "sweep-1", "sweep-2"}
    lines |= {f"strangers-{rule}" for rule in ("score", "gap", "posterior")}
    assert {name for name, channel in seen if channel == "strokeDash"} == lines
    assert {name for name, _ in seen} == {*lines, "spectrum", "releases"}


def test_charts_of_one_attack_have_its_colour_and_shape():
    result = sample()
    specs = drawn(result)
    for name, attack in (
        ("claims-1", result.claims[0].attack),
        ("claims-2", result.claims[1].attack),
        ("per-user-1", result.per_user[0].attack),
    ):
        place = result.attacks.index(attack)
        marks = [part["mark"] for part in parts(specs[name]) if "mark" in part]
        coloured = {mark["color"] for mark in marks if "series" in mark.get("color", "")}
        assert coloured == {PAGE.colour(place)}
        assert {mark["shape"] for mark in marks if "shape" in mark} <= {SHAPES[place]}


def test_colours_and_dashes_of_attacks_stand_for_nothing_else():
    for name, spec in drawn(sample()).items():
        for part in parts(spec):
            mark = part.get("mark", {})
            assert "strokeDash" not in mark, name
            if not name.startswith(("claims", "per-user")):
                assert "series" not in mark.get("color", ""), name
        for channel, about in encodings(spec):
            if channel == "color" and about["field"] == "mark":
                pairs = zip(about["scale"]["domain"], about["scale"]["range"], strict=True)
                assert {ink for word, ink in pairs if word not in sample().attacks} == {PAGE.ink}


def test_keys_have_the_glyphs_and_colours_of_their_attacks():
    for section in sections(some()):
        for exhibit in section.exhibits:
            for key in exhibit.keys:
                if key.text in sample().attacks:
                    place = sample().attacks.index(key.text)
                    assert (key.glyph, key.colour) == (GLYPHS[place], place), exhibit.name
                else:
                    assert key.colour == "ink"


def test_legends_of_files_name_the_attacks_that_are_shown():
    spec = drawn(some(), FILE)["sweep-1"]
    legends = [about["legend"]["values"] for _, about in encodings(spec) if about.get("legend")]
    assert legends
    assert all(values == ["type-aware"] for values in legends)


def swept(*points, **changes):
    """The sweeps of a study with noise 0.05, in which the attack was right in 20 %."""
    own = risk("x", 0.2)
    result = bare(risks=(own, *points), study=sample().study, **changes)
    return sweeps.section(result).exhibits


def test_the_study_s_own_value_is_on_its_sweep():
    (exhibit,) = swept(risk("x", 0.3, noise=0.01), risk("x", 0.1, noise=0.5))
    assert [(row["at"], row["value"], row["own"]) for row in exhibit.rows] == [
        (0.01, 0.3, ""), (0.05, 0.2, "this study"), (0.5, 0.1, ""),
    ]  # fmt: skip
    assert exhibit.columns[0].show(exhibit.rows[1]) == "0.05 (this study)"
    assert exhibit.keys[-1].text == "this study: noise = 0.05"
    assert exhibit.sentence == (
        "X is right in 30 % of cases with noise = 0.01 and in 10.0 % with 0.5."
    )
    rings = [part for part in parts(exhibit.draw(exhibit.rows, PAGE).to_dict()) if _ring(part)]
    assert len(rings) == 1
    assert {"filter": "datum.own != ''"} in rings[0]["transform"]
    assert "ring: this study, 0.05" in str(exhibit.draw(exhibit.rows, FILE).to_dict())


def _ring(part):
    return part.get("mark", {}).get("filled") is False


def test_a_swept_value_that_is_the_study_s_own_is_marked_and_not_repeated():
    (exhibit,) = swept(risk("x", 0.21, noise=0.05), risk("x", 0.1, noise=0.5))
    assert [(row["at"], row["value"], row["own"]) for row in exhibit.rows] == [
        (0.05, 0.21, "this study"), (0.5, 0.1, ""),
    ]  # fmt: skip


def test_the_number_of_people_is_a_value_of_the_study_too():
    (exhibit,) = swept(replace(risk("x", 0.4, users=100), setting={"users": 100}))
    own = [row for row in exhibit.rows if row["own"]]
    assert [row["at"] for row in own] == [sample().users]


@pytest.mark.parametrize(
    "points",
    [
        [risk("x", 0.3, other=0.01)],  # of which the study says nothing
        [risk("x", 0.3, noise=0.01, top=3)],  # where something else differs, too
        [risk("y", 0.3, noise=0.01)],  # of an attack that the study itself did not measure
    ],
)
def test_where_the_study_has_no_such_point_none_is_marked(points):
    (exhibit,) = swept(*points)
    assert [row["own"] for row in exhibit.rows] == [""]
    assert not [key for key in exhibit.keys if "this study" in key.text]
    assert not [part for part in parts(exhibit.draw(exhibit.rows, FILE).to_dict()) if _ring(part)]


def test_with_everything_else_held_at_the_study_s_own_values_it_is_marked():
    (exhibit,) = swept(risk("x", 0.3, noise=0.01, top=5))
    assert [row["own"] for row in exhibit.rows] == ["", "this study"]


def test_still_pictures_of_all_charts_can_be_made():
    for section in sections(sample()):
        for exhibit in section.exhibits:
            if exhibit.draw:
                spec = charts.specification(exhibit, FILE, charts.WIDTH)
                assert charts.svg(spec, charts.WIDTH).startswith("<svg")


def test_every_logarithmic_axis_has_three_labels_or_more():
    found = 0
    for spec in drawn(sample()).values():
        for _, about in encodings(spec):
            if (about.get("scale") or {}).get("type") == "log":
                low, high = about["scale"]["domain"]
                assert len([tick for tick in about["axis"]["values"] if low <= tick <= high]) >= 3
                found += 1
    assert found >= 3
