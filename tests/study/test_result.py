"""Results: records, `result.json`, and its schema."""

import json
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.tools import TINY, call
from tests.snapshots import refuses

from reidrisk.errors import InvalidInput
from reidrisk.study import Result
from reidrisk.study.records import plain, typed
from reidrisk.study.result import ADDED, Signoff
from reidrisk.study.run_store import Stored, checksum_of
from reidrisk.study.schema import FILE, schema_text
from reidrisk.study.toml import study_file

jsonschema = pytest.importorskip("jsonschema")

OFFERED = json.loads(FILE.read_text(encoding="utf-8"))
"""The schema that people have."""

PLAIN = {
    int: st.integers(-(2**53), 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: st.text(st.characters(exclude_categories=["Cs"])),
    bool: st.booleans(),
    type(None): st.none(),
}


def things(kind):  # noqa: PLR0911  kind by kind
    """Anything that an annotation allows."""
    if kind in PLAIN:
        return PLAIN[kind]
    if kind is Any:
        return st.one_of(*PLAIN.values(), st.lists(st.integers()))
    if is_dataclass(kind):
        return records(kind)
    arguments = get_args(kind)
    if get_origin(kind) is Literal:
        return st.sampled_from(arguments)
    if get_origin(kind) is UnionType:
        return st.one_of(*(things(one) for one in arguments))
    if get_origin(kind) is tuple and arguments[-1] is Ellipsis:
        return st.lists(things(arguments[0]), max_size=2).map(tuple)
    if get_origin(kind) is tuple:
        return st.tuples(*(things(one) for one in arguments))
    return st.dictionaries(things(arguments[0]), things(arguments[1]), max_size=2)


def records(kind):
    hints = get_type_hints(kind)
    return st.builds(kind, **{part.name: things(hints[part.name]) for part in fields(kind)})


@settings(max_examples=25)
@given(records(Result))
def test_any_result_comes_back_from_json_and_fits_the_schema(result):
    """Also one that cannot be, which is refused when it is read as a whole."""
    text = result.to_json()
    own = {"schema", "checksum"}
    again = typed(Result, {key: value for key, value in json.loads(text).items() if key not in own})
    assert again == result
    assert again.to_json() == text
    jsonschema.validate(json.loads(text), OFFERED)


def test_the_schema_beside_the_code_is_current():
    """An older pydantic says less of the same records: whoever writes the file has a new one."""
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))
    if tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 13):
        pytest.skip("the schema is written with pydantic 2.13 or newer")
    hint = "the records have changed: python -m reidrisk.study.schema"
    assert FILE.read_text(encoding="utf-8") == schema_text(), hint


@pytest.fixture(scope="module")
def result():
    file = study_file(TINY)
    return file.study.run(file.source)


def test_a_real_result_fits_the_schema(result):
    jsonschema.validate(json.loads(result.to_json()), OFFERED)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body.pop("risks"),
        lambda body: body.update(schema="reidrisk/2"),
        lambda body: body.update(more=1),
        lambda body: body["risks"][0].pop("high"),
        lambda body: body["risks"][0].update(high="1"),
        lambda body: body["bounds"][0].update(side="left"),
        lambda body: body["slots"].append(1.5),
    ],
)
def test_the_schema_refuses_what_is_no_result(result, spoil):
    body = json.loads(result.to_json())
    spoil(body)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(body, OFFERED)


def test_save_and_load(result, tmp_path):
    file = result.save(tmp_path / "deep" / "run")
    assert Result.load(file) == Result.load(file.parent) == result


def test_results_without_a_number_are_not_written(result):
    with pytest.raises(ValueError, match="Out of range float"):
        Result(**{**vars(result), "level": float("nan")}).to_json()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body.update(users="3"),
        lambda body: body["risks"][0].pop("high"),
        lambda body: body["risks"][0].update(high=True),
        lambda body: body.update(more=1),
        lambda body: body["bounds"][0].update(side="left"),
        lambda body: body["risks"][0].update(high=-1),
        lambda body: body["risks"][0].update(low=0.9, high=0.95),
        lambda body: body["bounds"][-1].update(high=1.5),
        lambda body: body["claims"][0]["right"].update(value=2),
        lambda body: body["claims"][0]["gap"].update(low=-1.5),
        lambda body: body.update(level=0),
        lambda body: body["risks"][0].update(level=1.5),
        lambda body: body["risks"][0].update(targets=-3),
        lambda body: body.update(users=-1),
        lambda body: body.update(users=0),
        lambda body: body.update(slots=[]),
        lambda body: body.update(slots=body["slots"][::-1]),
        lambda body: body["risks"].pop(0),
        lambda body: body["risks"][0].update(setting={"noise": 0.1}),
        lambda body: body["risks"][0].update(guessing=0.0),
        lambda body: body.update(signoff=signed(limit=5.0)),
        lambda body: body["risks"][0].update(targets=10**30),
        lambda body: body["risks"][-1]["setting"].update(top=10**30),
        lambda body: body["claims"][0].update(claimed=1.5),
        lambda body: body["selections"][0].update(precision=-1),
        lambda body: body["information"][0].update(slots=-1),
        lambda body: body["information"][0].update(error=-0.5),
        lambda body: body["reckoned"].append(BITS | {"low": 3}),
        lambda body: body["reckoned"].append(BITS | {"users": -1}),
        lambda body: body["reckoned"].append(BITS | {"leans": "left"}),
        lambda body: body["bounds"][0].update(trials=-1),
        lambda body: body.update(strangers=[OPEN]),
    ],
)
def test_damage_is_named_with_its_place(result, spoil):
    body = json.loads(result.to_json())
    spoil(body)
    with refuses("damaged-file"):
        Result.from_json(sealed(body), "file")
    with refuses("checksum-mismatch"):
        Result.from_json(json.dumps(body), "file")


def sealed(body):
    """As if a run had written it."""
    return json.dumps({**body, "checksum": checksum_of(body)})


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["risks"][0].update(high=body["risks"][0]["value"]),
        lambda body: body.update(title="another"),
        lambda body: body["study"].update(seed=4),
        lambda body: body["versions"].update(numpy="1.0"),
        lambda body: body.update(checksum="0" * 64),
        lambda body: body.update(checksum=None),
    ],
)
def test_a_result_that_was_edited_is_refused(result, change):
    """Also where every figure still can be."""
    body = json.loads(result.to_json())
    change(body)
    with refuses("checksum-mismatch"):
        Result.from_json(json.dumps(body), "file")


def test_blanks_and_the_order_of_keys_change_no_result(result):
    body = json.loads(result.to_json())
    assert Result.from_json(json.dumps(dict(reversed(body.items())), indent=7)) == result


@pytest.mark.parametrize(
    ("number", "why"),
    [("NaN", "NaN is not a number"), ("-Infinity", "-Infinity is not a number"),
     ("1e999", "1e999 is not a number"), ("1" * 5_000, "1111.* is not a number")],
)  # fmt: skip
def test_what_is_no_number_is_refused_wherever_it_stands(result, number, why):
    text = result.to_json()
    for old, new in (('"seed": 3', f'"seed": {number}'), ('"unit":', f'"odd": {number}, "unit":')):
        assert old in text
        with refuses("damaged-file"):
            Result.from_json(text.replace(old, new), "file")


def test_a_key_that_stands_twice_is_refused(result):
    """Readers differ on which of the two counts."""
    text = result.to_json().replace('"high":', '"high": 0.0, "high":', 1)
    with refuses("damaged-file"):
        Result.from_json(text, "file")


@pytest.mark.parametrize("depth", [150, 300, 900, 990, 100_000])
def test_deep_json_gets_a_message(result, depth):
    text = result.to_json().replace('"unit":', f'"odd": {"[" * depth}{"]" * depth}, "unit":', 1)
    with pytest.raises(InvalidInput, match=r"nested too deeply|was changed after"):
        Result.from_json(text, "file")
    body = json.loads(result.to_json()) if depth < 900 else None
    if body is not None:  # as a run would have written it
        body["study"]["odd"] = json.loads("[" * depth + "]" * depth)
        with refuses("damaged-file") if depth > 190 else nullcontext():
            Result.from_json(sealed(body), "file")


BITS = {"figure": "entropy", "by": "counts", "how": "", "leans": "high", "slots": 1, "bits": 2.5,
        "low": 2, "high": 3, "level": 0.95, "users": 9, "note": "", "warning": ""}  # fmt: skip
OPEN = {"attack": "hamming", "rule": "gap", "slots": 4, "users": 9, "targets": 9, "strangers": 9,
        "not_assessed": 0, "present": 0.5, "decisions": []}  # fmt: skip


def signed(**said):
    return {**plain(Signoff()), **said}


ADDED_LATER = ("reckoned", "learned", "independence", "shortlists")
"""Parts that results have since there are models that learn."""

OLD = Path(__file__).parent / "data" / "reidrisk-1.json"


def test_a_result_of_before_still_loads_reports_and_gates(tmp_path):
    """Written by version 0.1.0 before bounds and estimates became one record."""
    text = OLD.read_text(encoding="utf-8")
    result = Result.load(OLD)
    later = ("releases", "attackers", "guesses", "strangers", "credits", "warnings", *ADDED_LATER)
    added = {**{name: [] for name in later}, "signoff": None}
    body = {**json.loads(text), **added}
    assert json.loads(result.to_json()) == {**body, "checksum": checksum_of(body)}
    fields = ("risks", "bounds", "sizes", "extrapolations", "selections", "claims", "per_user")
    assert all(getattr(result, name) for name in (*fields, "information"))
    page = tmp_path / "report.html"
    assert call("report", OLD, "-o", page).returncode == 0
    assert "As written before" in page.read_text(encoding="utf-8")
    assert call("gate", OLD, "--max-risk", "100%").returncode == 3  # nobody sealed it
    assert call("gate", OLD, "--max-risk", "100%", "--accept", "unsealed").returncode == 0
    assert call("gate", OLD, "--max-risk", "0.1%").returncode == 3
    assert (
        "unsealed: the result carries no checksum" in call("gate", OLD, "--max-risk", "1%").stderr
    )
    assert not Stored.read(OLD).sealed


SEALED = Path(__file__).parent / "data" / "reidrisk-1-checksum.json"


def test_the_first_result_with_a_checksum_still_loads_reports_and_gates(tmp_path):
    """Written by `reidrisk study tests/study/data/checksum.toml -o run/`; never write it again."""
    stored = Stored.read(SEALED)
    result = stored.result
    assert stored.sealed
    empty = [part.name for part in fields(Result) if not getattr(result, part.name)]
    assert set(empty) == {
        "inputs",
        "warnings",
        *ADDED,
        *ADDED_LATER,
    }  # none at hand, and what came later
    written, now = json.loads(SEALED.read_bytes()), json.loads(result.to_json())
    assert {name: now[name] for name in written if name != "checksum"} == {
        name: said for name, said in written.items() if name != "checksum"
    }
    page = tmp_path / "report.html"
    assert call("report", SEALED, "-o", page).returncode == 0
    assert "As written with a checksum" in page.read_text(encoding="utf-8")
    done = call("gate", SEALED, "--max-risk", "100%", "--worst-tenth", "100%", "--strict")
    assert (done.returncode, "checksum" in done.stderr) == (0, False), done.stderr
    assert call("gate", SEALED, "--max-risk", "0.1%").returncode == 3


def test_a_missing_result_says_what_to_do(tmp_path):
    with refuses("file-not-found"):
        Result.load(tmp_path)
