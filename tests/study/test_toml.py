"""Study files: what they mean, and the line of whatever is wrong."""

from dataclasses import fields
from pathlib import Path

import pytest
from tests.snapshots import refuses

from reidrisk import data
from reidrisk.attacks import TypeAware, WeightedHamming
from reidrisk.cli.study import starter
from reidrisk.errors import InvalidInput
from reidrisk.releases import ItemSamples, RandomisedResponse, TopicsApi
from reidrisk.releases.parameters import parameters_of
from reidrisk.releases.table import release_kinds
from reidrisk.study import Repeats, keys
from reidrisk.study.toml import line_of, parse, read_study, study_file

PEOPLE = '\n[people]\nkind = "synthetic"\nusers = "1k"\n'


def test_a_file_says_what_a_study_says():
    file = study_file(
        'title = "t"\nunit = "weeks"\nseed = 7\nlevel = "90%"\nslots = [1, 2]\ntargets = "2k"\n'
        'precision = "1%"\ntraining = 0.1\nattacks = ["weighted-hamming", "type-aware"]\n'
        'models = ["type-aware"]\nfull_information = true\nsizes = [10, 20, 50, "0.1k"]\n'
        'beyond = ["1M"]\n[per_user]\nusers = 3\nrepeats = 4\n[release]\nnoise = "10%"\ntop = 5\n'
        'absence = "5%"\n[sweep]\nnoise = ["1%", 0.5]\nusers = ["2k"]\n' + PEOPLE + "epochs = 4\n"
    )
    study, people = file.study, file.source.people
    release = TopicsApi(topics=349, top=5, noise=0.1, absence=0.05)
    assert (people.users, people.epochs, people.seed) == (1000, 4, 0)
    assert study.release == release
    assert study.attacks[0] == WeightedHamming()
    assert [type(one) for one in (*study.attacks[1:], *study.models)] == [TypeAware, TypeAware]
    assert (study.slots, study.targets, study.precision) == ((1, 2), 2000, 0.01)
    assert (study.training, study.seed, study.level) == (0.1, 7, 0.9)
    assert (study.title, study.unit, study.full_information) == ("t", "weeks", True)
    assert (study.sizes, study.beyond) == ((10, 20, 50, 100), (1_000_000,))
    assert study.per_user == Repeats(3, 4)
    assert study.sweep == {"noise": (0.01, 0.5), "users": (2000,)}


def test_people_is_all_a_file_needs():
    study = study_file(PEOPLE).study
    assert [attack.name for attack in study.attacks] == ["hamming", "weighted-hamming"]
    assert (study.slots, study.targets, study.sweep) == (None, 10_000, {})


def test_the_starter_says_something_of_every_key():
    text = starter()
    for name in type(parse(text)).model_fields:
        assert name in text, name


@pytest.mark.parametrize(
    ("section", "release"),
    [
        ("", TopicsApi(topics=349)),
        ("[release]\n", TopicsApi(topics=349)),
        ("[release]\ntopics = 349\nblocked = '5%'", TopicsApi(topics=349, blocked=0.05)),
        ('[release]\nkind = "item-samples"\nsamples = "1k"', ItemSamples(1000)),
        ('[release]\nkind = "item-samples"\nsamples = 2\nby_count = false',
         ItemSamples(2, by_count=False)),
        ('[release]\nkind = "randomised-response"\nepsilon = 3', RandomisedResponse(3.0)),
        ('[release]\nkind = "randomised-response"\nepsilon = inf',
         RandomisedResponse(float("inf"))),
        ('[release]\nkind = "reidrisk.releases:TopicsApi"\ntop = 2', TopicsApi(top=2)),
    ],
)  # fmt: skip
def test_a_release_is_its_kind_and_its_parameters(section, release):
    file = study_file(f'attacks = ["hamming"]{PEOPLE}{section}')
    assert file.study.release == release


def test_two_tables_are_a_source(tmp_path):
    (tmp_path / "known.csv").write_text("user,tokens\na,x;y\nb,x;\nc,;z\n")
    (tmp_path / "anonymous.csv").write_text("user,tokens\na,x;y\nb,x;y\n")
    text = '[people]\nkind = "linked"\nknown = "known.csv"\nanonymous = "anonymous.csv"\n'
    file = study_file(text, folder=tmp_path)
    assert (file.source.users, file.study.release) == (3, None)
    names = ["gaps", "hamming", "overlap", "rarity-overlap", "repetition", "polya"]
    names += ["cosine", "cosine-csls"]
    assert [attack.name for attack in file.study.attacks] == names
    assert set(file.inputs) == {"known.csv", "anonymous.csv"}
    shown = study_file('targets = "all"\n' + text + "[release]\ntop = 1\n", folder=tmp_path)
    # Two of six known slots are empty: chance, as far as anyone knows.
    assert shown.study.release == TopicsApi(topics=3, top=1, absence=2 / 6)
    assert shown.study.targets is None


def test_two_tables_may_have_other_names_for_columns(tmp_path):
    (tmp_path / "k.csv").write_text("id,given_name,zip\nu1-a,ann,1\nu2-a,bob,2\n")
    (tmp_path / "a.csv").write_text("nr,First name,zip\nu2-b,bob,2\n")
    text = (
        '[people]\nkind = "linked"\nknown = "k.csv"\nanonymous = "a.csv"\nknown_user = "id"\n'
        'anonymous_user = "nr"\nuser_pattern = "u([0-9])"\n'
        'columns = { given_name = "First name", zip = "zip" }\n'
    )
    tables = study_file(text, folder=tmp_path).source.tables
    assert (tables.slot_names, tables.truth.tolist()) == (("given_name", "zip"), [1])
    (tmp_path / "k.csv").write_text("user,sku,n\nann,tea,2\nbob,jam,1\n")
    (tmp_path / "a.csv").write_text("user,product,n\nann,tea,1\n")
    text = (
        '[people]\nkind = "linked"\nknown = "k.csv"\nanonymous = "a.csv"\ncount = "n"\n'
        'item = { sku = "product" }\n'
    )
    tables = study_file(text, folder=tmp_path).source.tables
    assert tables.known.to_csr().toarray().tolist() == [[0, 2], [1, 0]]


def test_a_column_of_two_tables_has_one_name_in_each(tmp_path):
    text = '[people]\nkind = "linked"\nknown = "k"\nanonymous = "a"\nitem = {a = "b", c = "d"}\n'
    with refuses("invalid-study-file"):
        study_file(text, folder=tmp_path)


@pytest.mark.parametrize("named", ['columns = {user = "who"}', 'user = "who"\nseparator = ","'])
def test_people_from_files_are_found_beside_the_study(tmp_path, named):
    (tmp_path / "people.csv").write_text("who,epoch,token\na,1,x\nb,1,y\n")
    (tmp_path / "study.toml").write_text(
        f'[people]\nkind = "table"\npath = "people.csv"\n{named}\n[release]\ntop = 1\n'
    )
    file = read_study(tmp_path / "study.toml")
    assert file.source.users == 2
    assert list(file.inputs) == ["people.csv"]
    assert len(file.inputs["people.csv"]) == 64


def test_histories_and_tfrecords(tmp_path):
    (tmp_path / "visits.csv").write_text(
        "user,timestamp,domain\na,2024-01-01T00:00:00,p\nb,2024-01-02T00:00:00,q\n"
    )
    (tmp_path / "domains.csv").write_text("domain,token\np,x\nq,y\n")
    history = '[people]\nkind = "history"\npath = "visits.csv"\ndomains = "domains.csv"\n'
    file = study_file(history + "[release]\ntop = 1\n", folder=tmp_path)
    assert file.source.users == 2
    assert set(file.inputs) == {"visits.csv", "domains.csv"}
    people = data.make_profiles(["a", "b"], [0, 0], [1, 2], [1.0, 1.0])
    data.write_tfrecord_profiles(people, tmp_path / "people.tfrecord")
    record = '[people]\nkind = "tfrecord"\npath = "people.tfrecord"\n[release]\ntop = 1\n'
    assert study_file(record, folder=tmp_path).source.users == 2


ITEMS = '[release]\nkind = "item-samples"\nsamples = 1'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid-study-file"),
        ("x = ", "not-toml"),
        ("a = 1\nb 2", "not-toml"),
        (PEOPLE.replace('"1k"', '"1q"'), "invalid-study-file"),
        (PEOPLE.replace("users", "user"), "invalid-study-file"),
        (PEOPLE.replace("synthetic", "tabel"), "invalid-study-file"),
        ("[people]\nusers = 3", "invalid-study-file"),
        ("people = 5", "invalid-study-file"),
        ("release = 1" + PEOPLE, "invalid-study-file"),
        ('\nattacks = ["haming"]' + PEOPLE, "invalid-study-file"),
        ('attacks = ["nowhere:It"]' + PEOPLE, "invalid-study-file"),
        ('attacks = ["math:pi"]' + PEOPLE, "invalid-study-file"),
        ("attacks = [3]" + PEOPLE, "invalid-study-file"),
        ('attacks = "hamming"' + PEOPLE, "invalid-study-file"),
        ('bounds = ["math:pi"]' + PEOPLE, "invalid-study-file"),
        ('bounds = ["nowhere:it"]' + PEOPLE, "invalid-study-file"),
        ("noise = 0.1" + PEOPLE, "invalid-study-file"),
        (PEOPLE + "[release]\nnois = 0.1", "invalid-parameters"),
        (PEOPLE + "[release]\nnoise = 5", "invalid-parameters"),
        (PEOPLE + "[release]\ntop = 0", "invalid-parameters"),
        (PEOPLE + '[release]\nmemory = "x"', "invalid-parameters"),
        (PEOPLE + "[release]\ndelay = 9", "invalid-parameters"),
        (PEOPLE + "[release]\ntop = 400", "top-too-large"),
        (PEOPLE + '[release]\nkind = "topic"', "invalid-study-file"),
        (PEOPLE + "[release]\nkind = 3", "invalid-study-file"),
        (PEOPLE + '[release]\nkind = "a.b:C"', "invalid-study-file"),
        (PEOPLE + '[release]\nkind = "math:pi"', "invalid-study-file"),
        (PEOPLE + '[release]\nkind = "math:x"', "invalid-study-file"),
        (PEOPLE + '[release]\nkind = "randomised-response"',
         "invalid-parameters"),
        (PEOPLE + '[release]\nkind = "item-samples"\nsamples = true',
         "invalid-parameters"),
        (PEOPLE + '[release]\nkind = "item-samples"\nsamples = 1\nby_count = "no"',
         "invalid-parameters"),
        (PEOPLE + "release.top = 0", "invalid-study-file"),
        (PEOPLE + "[per_user]\nuser = 3", "invalid-study-file"),
        ("targets = -1" + PEOPLE, "invalid-study-file"),
        ('slots = [1,\n"a"]' + PEOPLE, "invalid-study-file"),
        ("slots = []" + PEOPLE, "empty-list"),
        ("slots = [0]" + PEOPLE, "invalid-study-file"),
        ("attacks = []" + PEOPLE, "no-attack"),
        ("guesses = [0]" + PEOPLE, "invalid-study-file"),
        ('training = "100%"' + PEOPLE, "share-out-of-range"),
        ('level = "5%"' + PEOPLE, "invalid-level"),
        ('level = "100%"' + PEOPLE, "invalid-level"),
        (PEOPLE + "[sweep]\nnoize = [1]", "invalid-parameters"),
        (PEOPLE + '[sweep]\nnoise = ["x"]', "invalid-parameters"),
        (PEOPLE + "[sweep]\nparents = [1]", "invalid-parameters"),
        (PEOPLE + "[sweep]\nnoise = 0.3", "invalid-study-file"),
        ("full_information = true" + PEOPLE + ITEMS,
         "unsupported-release"),
        ('[people]\nkind = "table"\npath = "absent.csv"',
         "file-not-found"),
        ('[people]\nkind = "linked"\nanonymous = "a.csv"\nknown = "k.csv"',
         "file-not-found"),
        ("full_information = true" + PEOPLE + "[release]\ndelay = 1",
         "unsupported-release"),
        ("slots = [1, 9]" + PEOPLE, "slot-out-of-range"),
        (PEOPLE + "[signoff]\nlimit = 1", "invalid-study-file"),
        (PEOPLE + "[release]\nnoise = 1", "invalid-parameters"),
        (PEOPLE + "epochs = 0", "invalid-study-file"),
        ('\nattacks = ["hamming", "weighted-hamming"]' + PEOPLE + ITEMS,
         "unsupported-release"),
        ('attacks = ["hamming"]\nmodels = ["hamming"]' + PEOPLE,
         "not-a-likelihood"),
        ('[people]\nkind = "linked"\nknown = "k"', "invalid-study-file"),
        ('[people]\nkind = "plays"\npath = "x.csv"\nitems = "y"', "invalid-study-file"),
    ],
)  # fmt: skip
def test_slips_are_found_with_their_line(text, code):
    with refuses(code):
        study_file(text)


def test_every_slip_is_named_at_once():
    with refuses("invalid-study-file") as wrong:
        parse("seeed = 1\ntarget = 3" + PEOPLE)
    assert len(str(wrong.value).splitlines()) == 2


def test_lines_of_keys():
    text = '# c\na = 1\n[b]\nc = 2\n"d" = 3\n[b.e]\nf = 4\n[[g]]\nh.i = 5\n'
    paths = {("a",): 2, ("b",): 3, ("b", "c"): 4, ("b", "d"): 5, ("b", "e"): 6, ("b", "e", "f"): 7,
             ("g", 0, "h", "i"): 9, ("b", "absent"): 3, ("absent",): 1}  # fmt: skip
    assert {path: line_of(text, list(path)) for path in paths} == paths


def test_the_reference_names_every_key():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "study-file.md").read_text()
    kinds = (keys.StudyModel, keys.Synthetic, keys.Table, keys.History, keys.TfRecord,
             keys.TwoTables)  # fmt: skip
    for kind in (*kinds, Repeats):
        for name in getattr(kind, "model_fields", None) or [one.name for one in fields(kind)]:
            assert f"`{name}`" in page or f"[{name}]" in page, f"{kind.__name__}.{name}"
    for kind, release in release_kinds().items():
        assert f'`"{kind}"`' in page, kind
        for name in parameters_of(release):
            assert f"`{name}`" in page, f"{kind}.{name}"


NUMBERS = ("seed", "targets", "level", "precision", "training", "strangers", "present")
LISTS = ("slots", "sizes", "beyond", "guesses")
INNER = {
    "people": ("users", "epochs", "topics", "seed", "types", "size"),
    "release": ("top", "noise", "memory", "delay", "presence", "blocked", "absence"),
    "per_user": ("users", "repeats"),
    "signoff": ("limit",),
}


def everywhere(value):
    """A study file for each place where a number may stand, with this there instead."""
    yield from (f"{name} = {value}\n{PEOPLE}" for name in NUMBERS)
    yield from (f"{name} = [1, {value}]\n{PEOPLE}" for name in LISTS)
    for section, names in INNER.items():
        for name in names:
            if section == "people":
                others = "" if name == "users" else 'users = "1k"\n'
                yield f'[people]\nkind = "synthetic"\n{others}{name} = {value}\n'
            else:
                yield f"{PEOPLE}[{section}]\n{name} = {value}\n"
    yield f"{PEOPLE}[release]\nbuckets = [{value}]\n"
    yield f"{PEOPLE}[sweep]\ntop = [1, {value}]\n"
    yield f'{PEOPLE}[[beside]]\nkind = "generalised"\nof = {{kind = "topics", top = {value}}}\n'


@pytest.mark.parametrize(
    "value",
    ["true", "false", "nan", "1e999", "-1e999", str(2**63), str(-(2**70)), f"0x{'f' * 5_000}"],
)
def test_what_is_no_number_of_64_bits_is_refused_wherever_one_may_stand(value):
    """True was read as 1, and large numbers ended in tracebacks."""
    for text in everywhere(value):
        with pytest.raises(InvalidInput, match=r"^study.toml, line \d+: "):
            study_file(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("seed = " + "1" * 5_000 + PEOPLE, "not-toml"),
        ("seed = " + "[" * 50_000 + "]" * 50_000 + PEOPLE, "not-toml"),
        ("seed = " + "{a=" * 5_000 + "1" + "}" * 5_000 + PEOPLE, "not-toml"),
        (f"[a{'.a' * 1_000}]", "nested-too-deeply"),
        (f"a = {'[' * 20}{']' * 20}{PEOPLE}", "nested-too-deeply"),
        ("full_information = 1" + PEOPLE, "invalid-study-file"),
        (PEOPLE + "[signoff]\nwho = 1", "invalid-study-file"),
        ("beside = [1]" + PEOPLE, "invalid-study-file"),
    ],
    ids=lambda text: text[:20],
)
def test_odd_study_files_get_a_message(text, code):
    with refuses(code):
        study_file(text)


def test_lines_of_blanks_are_read_at_once():
    """The line of a slip was looked for in cubic time: minutes for 4,000 blanks."""
    text = f'seeed = 1\ntitle = """\n[{" " * 100_000}x\n"""{PEOPLE}'
    with refuses("invalid-study-file"):
        study_file(text)
