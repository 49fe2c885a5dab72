"""The sign-off: complete, safe, the same each time, and judged as the gate judges."""

import base64
import hashlib
import html
import json
import re
import sys
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.tools import call
from tests.report.hostile import EVIL, hostile
from tests.report.sample import bare, bound, exact, risk, sample
from tests.report.signed import SIGNOFF, STRANGERS, decision, open_set, signed
from tests.report.test_page import Parsed
from tests.snapshots import refuses, says

from reidrisk import report
from reidrisk.core.doubts import Doubt
from reidrisk.errors import MissingExtra
from reidrisk.report import signoff
from reidrisk.report.range_chart import Mark, RiskRange, range_of
from reidrisk.study.gate import judged
from reidrisk.study.result import Result, Signoff
from reidrisk.study.text.numbers import opening, share_with_interval
from reidrisk.study.text.verdict import Sentence, basis, strongest, verdict

SAID = [part.name for part in fields(Signoff) if part.name not in {"limit", "accept"}]
LABELS = {"Found", "Possible", "Ruled out", "Strangers", "What would lower the risk"}
BLANK = "To be filled in by hand."


def made(result, folder, **more):
    page = report.html(result, folder / "signoff.html", edition="signoff", **more)
    return page.read_text(encoding="utf-8")


def words(page):
    """What is read on the page, without tags and style."""
    body = page.partition("</style>")[2]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", body)).replace("\xa0", " ").split())


def test_it_says_all_that_was_said(tmp_path):
    page = made(signed(), tmp_path)
    text = words(page)
    for name in SAID:
        assert getattr(SIGNOFF, name) in text
    for statement in verdict(signed()):
        label = next((one for one in LABELS if statement.text.startswith(one)), "")
        assert opening(statement.text.removeprefix(label).lstrip(": ")) in text
    for sentence in (*sample().assumptions, *sample().not_covered, basis(sample())):
        assert sentence in text
    assert "at most 40 % of cases" in text
    assert f"<h1>{sample().title}</h1>" in page
    assert f"Seed {sample().seed} Versions reidrisk {sample().versions['reidrisk']}" in text
    for name in ("real", "variation", "withheld"):
        assert share_with_interval(getattr(sample().releases[0], name)) in text
    assert text.count(BLANK) == 3  # decision, date, signature


@pytest.mark.parametrize("name", [*SAID, "limit"])
def test_what_was_not_said_is_a_line_to_write_on(tmp_path, name):
    nothing = None if name == "limit" else ""
    page = made(signed(signoff=replace(SIGNOFF, **{name: nothing})), tmp_path)
    assert words(page).count(BLANK) == 4
    full = made(signed(), tmp_path)
    for label in re.findall("<dt>([^<]*)</dt>", full):
        assert f"<dt>{label}</dt>" in page


def test_a_result_of_nothing_is_a_form(tmp_path):
    page = made(bare(signoff=None), tmp_path)
    assert words(page).count(BLANK) == 3 + len(SAID) + 1
    assert page.count('class="rule"') > words(page).count(BLANK)
    assert "Not judged" in page
    assert "No attack was measured" in page
    assert "<svg" not in page
    assert "How useful the release is was not measured." in page


def test_the_hash_is_that_of_the_file(tmp_path):
    result = signed(title="Grüße \u2028 aus Wien")
    file = result.save(tmp_path)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert f"Result {digest} SHA-256 of result.json" in words(made(result, tmp_path))
    assert digest in made(Result.load(tmp_path), tmp_path)


def test_on_the_command_line_it_is_that_of_the_very_file(tmp_path):
    file = signed().save(tmp_path)
    file.write_text(json.dumps(json.loads(file.read_text("utf-8"))), encoding="utf-8")
    done = call("report", tmp_path, "--edition", "signoff", "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert digest in (tmp_path / "page.html").read_text("utf-8")
    assert signoff.digest_of(Result.load(tmp_path)) != digest


HIGHEST = max(one.high for one in judged(sample()))


@pytest.mark.parametrize("limit", [0.0, 0.01, HIGHEST - 1e-9, HIGHEST + 1e-11, 0.4, 1.0])
def test_it_passes_what_the_gate_passes(tmp_path, limit):
    result = signed(signoff=replace(SIGNOFF, limit=limit))
    result.save(tmp_path)
    gate = call("gate", tmp_path, "--max-risk", f"{100 * limit:.12f}%")
    page = made(result, tmp_path)
    passed = '<h2 id="outcome">Passed</h2>' in page
    assert passed == (gate.returncode == 0)
    assert ('<h2 id="outcome">Not passed</h2>' in page) == (gate.returncode == 3)
    assert passed == (limit >= HIGHEST)


def test_what_was_not_measured_does_not_pass(tmp_path):
    for risks in ((), (risk("Hamming", 0.001, noise=0.5),)):
        assert "Not passed" in made(bare(signoff=SIGNOFF, risks=risks), tmp_path)


def test_people_who_could_not_be_assessed_stand_beside_the_outcome(tmp_path):
    few = replace(risk("Hamming", 0.02), not_assessed=2_600)
    doubted = bare(signoff=SIGNOFF, risks=(few,))
    accepting = replace(doubted, signoff=replace(SIGNOFF, accept=("unassessed",)))
    for result, word, said in (
        (doubted, "Not passed, since there are doubts", "<p>Doubt (unassessed): "),
        (accepting, "Passed, with doubts accepted by name", "<p>Accepted by name: Doubt (unassess"),
    ):
        page = made(result, tmp_path)
        outcome = page.partition('id="outcome"')[2].partition("</div>")[0]
        assert f">{word}<" in outcome
        assert said in outcome
        assert outcome.count("could not be assessed, more than 10") == 1
        assert "Up to 2,600 of 12,600 people could not be assessed" in outcome


def test_doubts_are_told_by_name_on_both_editions(tmp_path):
    doubts = (Doubt("partial-portfolio", "One ran."), Doubt("misaligned", "They are."))
    result = bare(signoff=replace(SIGNOFF, limit=None), doubts=doubts)
    page = words(made(result, tmp_path))
    long = words(report.html(result, tmp_path / "page.html").read_text("utf-8"))
    for said in ("Doubt (partial-portfolio): One ran.", "Doubt (misaligned): They are."):
        assert page.count(said) == long.count(said) == 1
    # What is proved answers doubts about strength.
    ceiling = bound("local privacy", "upper", exact(0.03))
    seen = (risk("weighted-hamming", 0.02),)
    safe = bare(doubts=doubts, bounds=(ceiling,), risks=seen, signoff=SIGNOFF)
    page = words(made(safe, tmp_path))
    assert "Answered by what is proved: Doubt (partial-portfolio): One ran." in page


def test_doubts_are_accepted_on_the_command_line(tmp_path):
    few = replace(risk("Hamming", 0.02), not_assessed=2_600)
    bare(signoff=SIGNOFF, risks=(few,)).save(tmp_path)
    page = tmp_path / "page.html"
    words_of = ("report", tmp_path, "-o", page)
    assert call(*words_of, "--edition", "signoff", "--accept", "unassessed").returncode == 0
    assert "Accepted by name: Doubt (unassessed): " in page.read_text("utf-8")
    for more in (("--accept", "unassessed"), ("--edition", "signoff", "--accept", "all")):
        done = call(*words_of, *more)
        assert done.returncode == 2
        says(done.stderr.strip().rpartition("\n")[2])  # not the hint of click above it


def test_the_strip_counts_those_who_were_assessed_among_those_attacked(tmp_path):
    few = replace(risk("Hamming", 0.001), targets=400, not_assessed=2_600)
    text = words(made(bare(signoff=SIGNOFF, risks=(few,)), tmp_path))
    assert "Hamming, 400 of 3,000 people assessed" in text
    assert "400 people attacked" not in text
    assert "3,000 people attacked and 400 of them assessed" in text
    linked = bare(signoff=SIGNOFF, risks=(few,), study={"people": {"kind": "Linked"}})
    text = words(made(linked, tmp_path))
    assert "Hamming, 400 of 3,000 rows assessed" in text
    assert "Up to 2,600 of 3,000 rows could not be assessed" in text


def test_what_was_found_has_the_colour_that_its_attack_has_in_every_chart(tmp_path):
    page = made(sample(), tmp_path)
    best = strongest(sample())
    place = sample().attacks.index(best.attack)
    assert place > 0
    assert f'<div class="found series-{place}">' in page
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert f".series-{place} svg {{ color: var(--series-{place}); }}" in style
    for kind in ("guessing", "possible", "ruled-out"):
        assert not re.search(rf"\.{kind} svg[^}}]*--series", style)


def test_a_sentence_does_not_say_its_label_again(tmp_path):
    page = made(sample(), tmp_path)
    for label, said in re.findall(r"<dt>([^<]*)</dt>\s*<dd><p[^>]*>([^<]*)", page):
        assert not said.lower().startswith(label.lower()), said


def test_what_is_after_has_its_interval(tmp_path):
    said = share_with_interval(strongest(sample()))
    assert f"the strongest attack is right in {said} of cases" in words(made(sample(), tmp_path))


def test_statements_are_grouped_and_unknown_kinds_are_kept(tmp_path, monkeypatch):
    texts = {
        "found": "Found: f f.", "possible": "P.", "ruled out": "R.",
        "limit": "L.", "remedy": "What would lower the risk: m.", "strangers": "Strangers: s.",
        "unfit": "U.", "weather": "W.",
    }  # fmt: skip
    said = [Sentence(about, text, warns=about == "unfit") for about, text in texts.items()]
    monkeypatch.setattr(signoff, "verdict", lambda _: tuple(said))
    page = made(signed(), tmp_path)
    text = words(page)
    assert (
        "Found F f. Possible P. Ruled out R. Does not fit U. What would lower the risk M. "
        "Weather W. Based on" in text
    )
    assert "Passed L." in text
    assert "does not know S." in text
    assert '<p class="warns">U.</p>' in page


def rows_of(page):
    return [
        words(f"</style>{row}")
        for row in re.findall(r"<tr>(<th scope=.row.*?)</tr>", page, re.DOTALL)
    ]


def test_each_rule_has_its_strongest_attack_among_those_who_accuse_few(tmp_path):
    page = made(signed(), tmp_path)
    first, second, third = rows_of(page)
    assert first.split(" type-aware ") == [
        "by its score alone",
        "3 % 1 % to 4 % 2 % 1 % to 3 % 0.9 % 0.3 % to 1.4 % 20 % 15 % to 25 %",
    ]
    assert second.startswith("by its lead over the second best type-aware 9.0 %")
    assert third.startswith("by its chance of being right type-aware 8 %")
    assert "Strangers accused, 1 % wanted" in words(page)


def test_strangers_of_other_slots_and_thresholds_nobody_asked_for_are_no_rows(tmp_path):
    silent = replace(decision(0.05), false=None)
    some = (open_set("a", "gap", decision(0.5), slots=2), open_set("b", "gap", silent),
            open_set("c", "score", decision(0.5, None)))  # fmt: skip
    (row,) = rows_of(made(signed(strangers=some), tmp_path))
    assert row.startswith("by its lead over the second best b 5 %")
    assert row.endswith("none made")
    assert not rows_of(made(signed(strangers=some[2:]), tmp_path))


def test_inputs_are_named_with_their_hashes(tmp_path):
    inputs = {f"{name}.csv": name * 64 for name in "abcdef"}
    text = words(made(signed(inputs=inputs), tmp_path))
    assert "Inputs a.csv aaaaaaaaaaaa, b.csv bbbbbbbbbbbb, c.csv cccccccccccc," in text
    assert text.endswith("and 2 more")


def test_it_is_one_small_file_without_scripts_that_points_nowhere(tmp_path):
    page = made(signed(), tmp_path)
    parsed = Parsed(page)
    assert len(page.encode()) < 40_000
    assert not parsed.scripts
    assert len(parsed.ids()) == len(set(parsed.ids()))
    for _, attributes in parsed.tags:
        assert not {"src", "href", "action", "style", "data"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
    (policy,) = [a["content"] for _, a in parsed.tags if a.get("http-equiv")]
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert made(Result.from_json(signed().to_json()), tmp_path) == page


def evil():
    said = Signoff(**dict.fromkeys(SAID, EVIL), limit=0.4)
    some = tuple(replace(one, attack=f"{EVIL}{one.attack}") for one in STRANGERS)
    return replace(hostile(), signoff=said, strangers=some)


def test_hostile_words_stay_words(tmp_path):
    page, harmless = made(evil(), tmp_path), made(signed(inputs={}), tmp_path)
    tags = {tag for tag, _ in Parsed(page).tags}
    assert tags <= {tag for tag, _ in Parsed(harmless).tags}
    assert "alert(1)</script>" not in page
    assert page.count("{{7*7}}") > len(SAID)
    assert not set(page) & set("\u202e\u2066\u2028\x00\x1b")


def test_a_hostile_title_is_only_text_at_the_foot_of_a_page(tmp_path):
    title = '"} body { display: none } </style><script>alert(1)</script> \\" é 123'
    for edition in ("signoff", "long"):
        page = report.html(bare(title=title), tmp_path / "page.html", edition=edition)
        style = page.read_text("utf-8").partition("<style>")[2].partition("</style>")[0]
        (content,) = re.findall(r"@bottom-left \{ content: \"(.*?)\"; \}", style)
        assert not set(content) & set("\"'<>{};/")
        shown = re.sub(r"\\([0-9a-f]+) ", lambda one: chr(int(one[1], 16)), content)
        assert shown.startswith(title[:60].rstrip())


def test_it_needs_no_library_that_draws(tmp_path, monkeypatch):
    for library in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, library, None)
    assert "Sign-off" in made(signed(), tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with refuses("missing-extra", MissingExtra):
        made(signed(), tmp_path)


def test_other_editions_and_their_mixtures_are_refused(tmp_path):
    page = tmp_path / "page.html"
    with refuses("unknown-edition"):
        report.html(signed(), page, edition="short")
    with refuses("conflicting-arguments"):
        report.html(signed(), page, edition="signoff", sections=(lambda _: None,))
    with refuses("conflicting-arguments"):
        report.html(signed(), page, digest="0" * 64)
    assert not page.exists()


def test_the_command_line_refuses_them_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    signed().save("run")
    for more, message in (
        (("--edition", "short"), "'short' is not one of 'long', 'signoff'"),
        (("--edition", "signoff", "--files", "charts"), "--files goes with the long edition only"),
        (("--edition", "signoff", "--section", "a:b"), "--section goes with the long edition only"),
    ):
        done = call("report", "run", *more)
        assert (done.returncode, message in " ".join(done.stderr.split())) == (2, True)
    done = call("report", "run", "--edition", "signoff")
    assert (done.returncode, done.stdout) == (0, "The sign-off: signoff.html\n")
    assert {path.name for path in tmp_path.iterdir()} == {"run", "signoff.html"}


STUDY = """
targets = 20
attacks = ["hamming"]

[people]
kind = "synthetic"
users = 50
epochs = 2

[signoff]
scope = "{}"
limit = "{}"
accept = ["blind", "weak-attacks", "low-level"]
"""


def test_words_and_limit_may_change_without_running_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages, results = [], []
    for scope, limit in (("Our first draft.", "100%"), ("Our second draft.", "0.1%")):
        (tmp_path / "study.toml").write_text(STUDY.format(scope, limit), encoding="utf-8")
        ran = call("study", "study.toml", "-o", "run")
        assert ran.returncode == 0, ran.stderr
        assert call("report", "run", "--edition", "signoff").returncode == 0
        results.append((tmp_path / "run" / "result.json").read_bytes())
        pages.append((tmp_path / "signoff.html").read_text("utf-8"))
        assert scope in (tmp_path / "run" / "study.toml").read_text("utf-8")
        assert scope in pages[-1]
        assert hashlib.sha256(results[-1]).hexdigest() in pages[-1]
    assert "Nothing had to be run" in ran.stdout
    assert ">Passed<" in pages[0]
    assert ">Not passed<" in pages[1]
    first, second = (json.loads(one) for one in results)
    assert {key for key in first if first[key] != second[key]} == {"signoff", "checksum"}


def kinds(found):
    return [mark.kind for mark in found.marks]


def test_the_range_goes_from_guessing_to_what_is_ruled_out():
    found = range_of(signed())
    assert kinds(found) == ["guessing", "found", "possible", "ruled-out", "limit"]
    assert found.marks[0].said == "0.25 %"
    assert range_of(bare()) is None
    assert kinds(range_of(bare(risks=(risk("a", 0.0),)))) == ["guessing", "found"]


def test_a_model_that_does_not_fit_or_was_beaten_is_no_ceiling():
    best = risk("a", 0.2)
    unfit = bound("m", "estimate", exact(0.5), fits=False)
    beaten = bound("n", "estimate", exact(0.19), fits=True)
    met = bound("o", "estimate", {"value": 0.21, "low": 0.19, "high": 0.23}, fits=True)
    broken = bound("p", "upper", exact(0.1))
    empty = bound("q", "upper", exact(1.0))
    assert kinds(range_of(bare(risks=(best,), bounds=(unfit, beaten, met, broken, empty)))) == [
        "guessing",
        "found",
    ]


SHARES = st.floats(0, 1)


@given(value=SHARES, bounds=st.lists(st.tuples(SHARES, st.sampled_from(["estimate", "upper"]))))
def test_what_is_drawn_does_not_contradict_itself(value, bounds):
    some = tuple(bound(str(i), side, exact(x), fits=None) for i, (x, side) in enumerate(bounds))
    found = range_of(bare(risks=(replace(risk("a", 0.5), value=value),), bounds=some))
    drawn = [mark.value for mark in found.marks if mark.kind in {"found", "possible", "ruled-out"}]
    assert drawn == sorted(drawn)
    assert "ruled-out" not in kinds(found) or found.marks[-1].value < 1


@given(st.lists(SHARES, min_size=1, max_size=6))
def test_places_on_the_axis_are_ordered_and_on_it(values):
    axis = RiskRange(tuple(Mark("found", "", "", "", one, one / 2, one) for one in values))
    places = [float(axis.place(one).removesuffix("%")) for one in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)
    assert axis.place(1.0) == "100.00%"
    assert 2 <= len(axis.ticks) <= 12
    for mark in axis.marks:
        left, width = (float(x.removesuffix("%")) for x in (axis.place(mark.low), axis.width(mark)))
        assert left + width == pytest.approx(float(axis.place(mark.high)[:-1]), abs=0.011)
