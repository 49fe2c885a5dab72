"""Results of singling and unicity: files, gates, comparisons, and what contradicts itself."""

import json
from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.test_singling import people, sales
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk.errors import InvalidInput
from reidrisk.risk.tables.records import RareValues, SinglingRecord, ValuePart
from reidrisk.study import Result
from reidrisk.study.result import Signoff
from reidrisk.study.run_store import checksum_of
from reidrisk.study.schema import FILE
from reidrisk.study.text import singling as words

jsonschema = pytest.importorskip("jsonschema")

REGISTER = ("unassessed", "register-incomplete", "register-unmatched")
"""Doubts about a register that does not hold everybody."""
COLUMNS = ["town", "age", "sex"]


@pytest.fixture(scope="module")
def found():
    return rr.singling(people(), columns=COLUMNS, register=people(3000))


@pytest.fixture(scope="module")
def known():
    return rr.unicity(sales(), epoch="day", count="paid", points=(1, 2), coarsen=["week"])


def test_a_result_of_a_table_is_a_value_and_fits_the_schema(found, known, tmp_path):
    for one in (found, known):
        result = one.result(name="people.csv", command="reidrisk x", inputs={"people.csv": "ab"})
        assert Result.load(result.save(tmp_path / type(one).__name__)) == result
        jsonschema.validate(json.loads(result.to_json()), json.loads(FILE.read_text()))
        assert result.study["command"] == "reidrisk x"
        assert result.inputs == {"people.csv": "ab"}
        assert "people.csv" in result.title
    assert type(found.figures) is SinglingRecord
    assert found.result().singling == found.figures


def test_records_of_tables_are_named_only_where_there_are_some(found, known):
    assert "unicity" not in json.loads(found.result().to_json())
    assert "singling" not in json.loads(known.result().to_json())
    assert not {"k", "crowd"} & json.loads(found.result().to_json())["singling"].keys()
    assert {type(one) for one in found.values} == {ValuePart}
    assert {type(one) for one in found.rare} == {RareValues}


def test_risks_of_singling_are_the_best_attackers(found):
    alone, register = found.result().risks
    assert (alone.attack, alone.slots, alone.users, alone.targets) == ("exact-match", 3, 400, 400)
    assert alone.estimate == replace(found.optimum, trials=400)
    assert (alone.value, alone.level) == (found.groups / found.people, 1.0)
    crowd = found.register
    assert (register.attack, register.users) == ("register-match", 3000)
    assert (register.targets, register.not_assessed) == (crowd.found, crowd.not_found)
    assert register.value == crowd.optimum.value
    assert [one.slots for one in found.result().bounds] == [3]


def test_risks_of_unicity_are_those_of_guessing_and_coarser_points_are_a_setting(known):
    risks = known.result().risks
    assert [(one.slots, one.setting) for one in risks] == [
        (1, {}), (2, {}), (1, {"coarsening": "week"}), (2, {"coarsening": "week"}),
    ]  # fmt: skip
    assert [one.estimate for one in risks] == [one.right for one in known]
    assert [one.not_assessed for one in risks] == [one.not_assessed for one in known]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*2 * [st.integers(0, 3)]), min_size=1, max_size=12),
       st.lists(st.tuples(*2 * [st.integers(0, 3)]), min_size=1, max_size=12))  # fmt: skip
def test_no_more_people_are_alone_than_the_gate_judges(rows, register):
    """And every number that is said about a register is what a count by hand gives."""
    table, others = ({"a": [one for one, _ in some], "b": [one for _, one in some]}
                     for some in (rows, register))  # fmt: skip
    found = rr.singling(table, columns=["a", "b"], register=others)
    k, crowd = Counter(rows), Counter(register)
    assert found.share_unique.value <= found.optimum.value == len(k) / len(rows)
    assert found.gate(max_risk="100%", accept=REGISTER).passed
    shared = [max(k[row], crowd[row]) for row in rows if crowd[row]]
    one, risks = found.register, found.result().risks
    assert (one.found, one.not_found) == (len(shared), len(rows) - len(shared))
    assert one.short == sum(0 < crowd[row] < k[row] for row in rows)
    assert (one.unique, one.smallest) == (shared.count(1), min(shared, default=0))
    assert sum(size.people for size in one.sizes) == len(shared)
    if not shared:
        assert len(risks) == 1
        return
    right = sum(1 / crowd for crowd in shared) / len(shared)
    assert risks[1].value == pytest.approx(right)
    text = words.in_register(found, one)
    assert f"{len(shared)} of {len(rows)} records have their values in the register of " in text
    assert f"{shared.count(1)} of those found fit" in text
    assert (f"{one.not_found} record" in text) == bool(one.not_found)
    assert (f"Of {one.short} record" in text) == bool(one.short)


def test_everybody_who_is_singled_out_is_named_rightly(known):
    assert all(one.singled_out.value <= one.right.value for one in known)


def test_the_gate_judges_the_best_attacker(found):
    judged = found.gate(max_risk=0.9, accept=REGISTER)
    assert judged.passed
    assert [check.what for check in judged.checks] == [
        "exact-match with 3 known columns among 400 users",
        "register-match with 3 known columns among 3,000 users",
    ]
    assert not found.gate(max_risk="5%").passed
    proved = found.gate(max_risk=0.9, side="upper", accept=REGISTER)
    assert proved.passed
    assert proved.checks[0].what == "any attacker with 3 known columns (exact optimum)"
    assert "not passed: 2 checked; exact-match" in str(found.gate(max_risk=0.01))
    with pytest.raises(InvalidInput, match="100 %, everything"):
        found.gate(max_risk=1)
    with pytest.raises(InvalidInput, match="nothing to check"):
        found.gate()


def test_limits_of_studies_do_not_fit_tables(found):
    with refuses("not-measured"):
        found.gate(max_risk=0.9, worst_tenth=0.9)


def test_a_register_may_be_better_known_than_the_table():
    """Those found are fewer: the bound of the table does not cover them."""
    found = rr.singling({"a": [1, 1, 2]}, columns=["a"], register={"a": [2]})
    assert found.register.optimum.value == 1 > found.optimum.value
    assert found.gate(max_risk=0.7, side="upper", accept=REGISTER).passed
    assert not found.gate(max_risk=0.7, accept=REGISTER).passed


def test_what_is_not_in_the_register_is_a_doubt():
    found = rr.singling({"a": [*"xyyy"]}, columns=["a"], register={"a": ["y", "z"]})
    first, second = found.gate(max_risk="100%").doubts
    assert first.text.startswith(
        "1 of 4 targets could not be assessed, more than 10 %: the register"
    )
    assert second.text.startswith(
        "Of 3 records the register has fewer people than the table itself"
    )
    assert (first.code, second.code) == ("unassessed", "register-incomplete")
    nobody = rr.singling({"a": [1]}, columns=["a"], register={"a": [2]})
    assert "no record has its values" in nobody.gate(max_risk="100%").doubts[0].text


def test_people_with_too_few_points_are_a_doubt():
    table = {"user": [1, 1, 2, 3], "item": [*"abac"]}
    judged = rr.unicity(table, points=(1, 2)).gate(max_risk="100%")
    assert not judged.passed
    (doubt,) = judged.doubts
    assert doubt.text.startswith(
        "2 of 3 targets could not be assessed, more than 10 %: they have fewer"
    )
    assert not rr.unicity(table, points=(1, 2)).gate(max_risk=0.9, side="upper").passed


def test_points_that_nobody_has_are_no_figure():
    few = {"user": [1, 2], "item": [1, 1]}
    some = rr.unicity(few, points=(1, 3)).result()
    assert (some.slots, len(some.risks)) == ((1,), 1)
    none = rr.unicity(few, points=(3,)).result()
    assert (none.slots, none.risks, none.attackers) == ((3,), (), ())
    assert Result.from_json(none.to_json()) == none
    with pytest.raises(InvalidInput, match="nothing to check"):
        none.gate(max_risk=0.5)
    assert "Nobody has as many points" in none.report()


def coarser(table, width=20):
    return {**table, "age": np.asarray(table["age"]) // width * width}


def test_comparing_tables_says_what_changed(found):
    after = rr.singling(coarser(people()), columns=COLUMNS)
    compared = rr.compare(found.result(), after.result())
    (one,) = compared.differences
    assert one.change.value == after.optimum.value - found.optimum.value
    assert (one.change.level, one.safer, one.paired) == (1.0, True, False)
    assert str(compared).startswith("The second is safer than the first by ")
    assert str(compared).endswith("exact-match with all known columns; both figures are exact.")
    changes = {one.what: (one.before, one.after) for one in compared.changes}
    assert changes["people alone"] == (f"{found.unique:,}", f"{after.unique:,}")
    assert changes["groups"] == (f"{found.groups:,}", f"{after.groups:,}")
    assert compared.only_before == ("register-match",)


def test_a_column_may_be_left_out(found):
    fewer = rr.singling(people(), columns=["town", "sex"])
    compared = rr.compare(found.result(), fewer.result())
    assert compared.slots == 2
    changes = {one.what: (one.before, one.after) for one in compared.changes}
    assert changes["columns"] == ("town, age, sex", "town, sex")
    assert "slots" not in changes
    same = rr.compare(fewer.result(), fewer.result())
    assert str(same).startswith("The risk of the first and the second is the same: ")
    before = rr.singling(people(), columns=COLUMNS).result()
    judged = fewer.gate(worse_by=0.01, before=before, accept=["other-knowledge"])
    assert judged.passed
    assert "town, age and sex and those of this one town and sex" in judged.accepted[0].text
    worse = rr.singling(people(), columns=COLUMNS).gate(worse_by=0.01, before=fewer.result())
    assert not worse.passed


def test_only_results_of_one_kind_are_compared(found, known):
    with refuses("different-kinds"):
        rr.compare(found.result(), known.result())


def test_unicity_is_compared_by_its_intervals(known):
    rarest = rr.unicity(sales(), epoch="day", count="paid", points=(1, 2), known="random", seed=1)
    compared = rr.compare(known.result(), rarest.result(), slots=1)
    assert compared.differences[0].change.level == pytest.approx(0.95)
    assert "random-points with 1 known point" in str(compared)


SPOILT = {
    "no figure": lambda body: body.update(risks=[], attackers=[]),
    "weaker": lambda body: body["risks"][0].update(value=0.01, low=0.01, high=0.01),
    "nobody": lambda body: body["singling"].update(people=0),
    "no group": lambda body: body["singling"].update(smallest=0),
    "too many groups": lambda body: body["singling"].update(groups=401),
    "too many alone": lambda body: body["singling"].update(unique=400),
    "another share": lambda body: body["singling"]["share_unique"].update(value=0, low=0),
    "another optimum": lambda body: body["singling"]["optimum"].update(value=0.0, low=0.0),
    "a column less": lambda body: body["singling"]["empty"].pop(),
    "no sizes": lambda body: body["singling"].update(sizes=[]),
    "nobody with a value": lambda body: body["singling"]["values"][0].update(people=0),
    "a low bound": lambda body: body["bounds"][0].update(value=0.1, low=0.1, high=0.1),
    "records": lambda body: body["singling"]["register"].update(not_found=3),
    "alone in it": lambda body: body["singling"]["register"].update(unique=400),
    "no crowd": lambda body: body["singling"]["register"].update(smallest=0),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_record_that_contradicts_itself_is_refused(found, how):
    spoilt(found.result(), SPOILT[how])


POINTS = {
    "no figure": lambda body: body.update(risks=[], attackers=[]),
    "no records": lambda body: body["unicity"].update(figures=[]),
    "other targets": lambda body: body["unicity"]["figures"][0].update(assessed=5),
    "more than all": lambda body: body["unicity"].update(users=3),
    "figures of nobody": lambda body: body["unicity"]["figures"][0].update(right=None),
    "too many singled out": lambda body: body["unicity"]["figures"][0]["singled_out"].update(
        value=0.99, high=1.0
    ),
    "both": lambda body: body.update(
        singling=json.loads(rr.singling({"a": [1]}, columns=["a"]).result().to_json())["singling"]
    ),
}


@pytest.mark.parametrize("how", POINTS)
def test_points_that_contradict_themselves_are_refused(known, how):
    spoilt(known.result(), POINTS[how])


def spoilt(result, how):
    body = json.loads(result.to_json())
    how(body)
    body["checksum"] = checksum_of(body)
    with pytest.raises(InvalidInput, match="is damaged"):
        Result.from_json(json.dumps(body))


def test_reports_are_written_or_returned(found, known, tmp_path):
    for one in (found, known):
        page = one.report()
        assert page.startswith("<!doctype html>")
        assert one.report(tmp_path / "page.html").read_text(encoding="utf-8") == page
        sign = one.report(edition="signoff")
        assert "Not judged" in sign
        assert "after 3 known" not in sign
        assert "after 2 known" not in sign
        assert Result.from_json(one.result().to_json()).report() == page


def test_a_limit_is_judged_in_the_report(found):
    limited = replace(found.result(), signoff=Signoff(limit=0.9, accept=REGISTER))
    page = limited.report(edition="signoff")
    assert "Nobody who knows only these columns can exceed it." in page
    assert "Passed" in page


def test_charts_and_tables_for_notebooks(found, known):
    pytest.importorskip("altair")
    for one in (found, known):
        assert one.plot().to_dict()["layer"] == one.result().plot().to_dict()["layer"]
        assert one._repr_html_() == one.result()._repr_html_()
    assert f"{found.unique} people" in found._repr_html_()
    assert "mean of" in found._repr_html_()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_of_the_library_that_came_in(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame({name: [*column] for name, column in people(50).items()})
    found = rr.singling(frame, columns=["town"])
    events = module.DataFrame({name: [*column] for name, column in sales(90).items()})
    known = rr.unicity(events, epoch="day", points=(1,))
    for one in (found, known, found.result(), known.result()):
        assert isinstance(one.to_frame(), module.DataFrame)
    assert found == rr.singling(people(50), columns=["town"])
    assert found.result() == Result.from_json(found.result().to_json())


@pytest.mark.parametrize("kind", ["arrow", "duckdb", "path", "polars", "pandas", "dict"])
def test_any_frame_gives_the_same_figures(kind, tmp_path):
    import duckdb
    import pyarrow as pa
    from pyarrow import csv

    arrow = pa.table({name: pa.array([str(one) for one in column])
                      for name, column in people(60).items()})  # fmt: skip
    csv.write_csv(arrow, tmp_path / "t.csv")
    table = {
        "arrow": lambda: arrow,
        "duckdb": lambda: duckdb.from_arrow(arrow),
        "path": lambda: tmp_path / "t.csv",
        "polars": lambda: pytest.importorskip("polars").from_arrow(arrow),
        "pandas": arrow.to_pandas,
        "dict": arrow.to_pydict,
    }[kind]()
    assert rr.singling(table, columns=COLUMNS) == rr.singling(arrow, columns=COLUMNS)
    seen = rr.unicity(table, user="town", item="age", points=(1, 2))
    assert seen == rr.unicity(arrow, user="town", item="age", points=(1, 2))


def test_a_study_has_the_same_methods(tmp_path):
    people = rr.data.synthetic_topics(users=200, topics=20, epochs=2, seed=1)
    study = rr.Study(attacks=(rr.Hamming(),), release=rr.TopicsApi(topics=20))
    result = study.run(people)
    assert result.report() == rr.report.html(result, tmp_path / "r.html").read_text("utf-8")
    judged = result.gate(max_risk="99%")
    assert judged.passed
    assert [check.attack for check in chain(judged.checks)] == ["hamming"]
    assert "only attacks were judged that compare rows" in judged.answered[-1].text
    assert judged.doubts == ()  # it is proved that nobody is right that often
