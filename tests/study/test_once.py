"""A run does nothing twice: each search, sum, fit, choice of people and picture is made once."""

import hashlib
from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from reidrisk import report
from reidrisk.attacks import Hamming, TypeAware, WeightedHamming
from reidrisk.cli.study import starter
from reidrisk.engines import plan
from reidrisk.report import charts
from reidrisk.study import run_in, splits
from reidrisk.study.toml import study_file

SMALLER = {
    'targets = "1k"': 'targets = "40"',
    'users = "100k"': 'users = "3k"',
    'sizes = ["1k", "3k", "10k", "30k"]': 'sizes = ["300", "1k"]',
    'beyond = ["1M", "10M"]': 'beyond = ["1M"]',
    "guesses = [1, 10, 100]": "guesses = [1, 10]",
    "users = 100\nrepeats = 20": "users = 5\nrepeats = 4",
}
MORE = {
    'models = ["type-aware"]': 'models = ["type-aware", "weighted-hamming"]',
    '# strangers = "30%"': 'strangers = "30%"',
    "# [[beside]]": "[[beside]]",
    '# kind = "cohorts"': 'kind = "cohorts"',
    "# users = 50": "users = 50",
    '# information = ["counts", "laptop"]': 'information = ["counts"]',
}


def content(thing):
    """All that a value holds, whoever made it."""
    if isinstance(thing, np.ndarray):
        held = hashlib.sha256(np.ascontiguousarray(thing)).hexdigest()
        return str(thing.dtype), thing.shape, held
    if is_dataclass(thing):
        return type(thing).__name__, *(content(getattr(thing, one.name)) for one in fields(thing))
    if isinstance(thing, tuple):
        return tuple(map(content, thing))
    return repr(thing)


def digest(thing):
    return hashlib.sha256(repr(content(thing)).encode()).hexdigest()[:12]


def rows_of(seen):
    return digest((seen.known.block(0, seen.known.users), seen.anonymous))


def said(score):
    return type(score).__name__, digest(score)


def search(seen, score, wanted, _):
    # Who may meet strangers also asks for the second best, which nobody else needs.
    what = "search for two" if wanted.second else "search"
    yield what, seen.slots, *said(score), rows_of(seen)


def searches(seen, scores, slots, engine, wanted):
    for score in scores:
        for short in slots:
            yield from search(seen.prefix(short), score, wanted, engine)


def evidence(seen, score, _):
    yield "evidence", seen.slots, *said(score), rows_of(seen)


def fit(attack, view):
    yield "fit", attack.name, rows_of(view), digest(view.release)


COUNTED = [
    (plan, "search", search),
    (plan, "search_weights", searches),
    (plan, "evidence", evidence),
    *((attack, "fit", fit) for attack in (Hamming, WeightedHamming, TypeAware)),
    (splits, "choose_crowd", lambda _, people: [("crowd", people.users)]),
    (splits, "observed", lambda *given, sites, **_: [("observed", digest(given[0]), sites)]),
    (charts, "specification", lambda exhibit, *_: [("drawn", exhibit.name)]),
    (charts, "svg", lambda spec, _: [("picture", spec["description"])]),
]


@pytest.fixture
def done(monkeypatch):
    """What was done how often."""
    found, inside = Counter(), []

    def counted(function, keys):
        def wrapped(*given, **named):
            if inside:  # one way of answering asks for another
                return function(*given, **named)
            found.update(keys(*given, **named))
            inside.append(function)
            try:
                return function(*given, **named)
            finally:
                inside.pop()

        return wrapped

    for where, name, keys in COUNTED:
        monkeypatch.setattr(where, name, counted(getattr(where, name), keys))
    return found


@pytest.mark.parametrize("changes", [SMALLER, SMALLER | MORE])
def test_a_run_with_its_page_does_nothing_twice(tmp_path, done, changes):
    text = starter()
    for long, short in changes.items():
        assert long in text
        text = text.replace(long, short)
    file = study_file(text, "the demo")
    result = run_in(tmp_path, file.study, file.source)
    report.html(result, tmp_path / "report.html")
    assert {what for what, *_ in done} >= {
        "search", "evidence", "fit", "crowd", "observed", "drawn", "picture"
    }  # fmt: skip
    assert {what: often for what, often in done.items() if often > 1} == {}
