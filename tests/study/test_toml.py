"""Study files: what they mean, and the line of whatever is wrong."""

from pathlib import Path

import pytest

from reidrisk import data
from reidrisk.attacks import TypeAware, WeightedHamming
from reidrisk.cli.study import starter
from reidrisk.errors import InvalidInput
from reidrisk.releases import ItemSamples, RandomisedResponse, TopicsApi
from reidrisk.releases.parameters import parameters_of
from reidrisk.releases.table import release_kinds
from reidrisk.study import Repeats, keys
from reidrisk.study.toml import parse, read_study, study_file
from reidrisk.study.toml_errors import line_of

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
    names = ["hamming", "overlap", "rarity-overlap", "gaps"]
    assert [attack.name for attack in file.study.attacks] == names
    assert set(file.inputs) == {"known.csv", "anonymous.csv"}
    shown = study_file('targets = "all"\n' + text + "[release]\ntop = 1\n", folder=tmp_path)
    # Two of six known slots are empty: chance, as far as anyone knows.
    assert shown.study.release == TopicsApi(topics=3, top=1, absence=2 / 6)
    assert shown.study.targets is None


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
    ("text", "message"),
    [
        ("", "study.toml, line 1: people: this key is needed"),
        ("x = ", "study.toml is not TOML: Invalid value"),
        ("a = 1\nb 2", r"not TOML: Expected '=' after a key in a key/value pair \(at line 2"),
        (PEOPLE.replace('"1k"', '"1q"'), "line 4: people.users: a size is a whole number such as"),
        (PEOPLE.replace("users", "user"), r"line 4: people.user: .* did you mean users\? There"),
        (PEOPLE.replace("users", "user"), "line 2: people.users: this key is needed"),
        (PEOPLE.replace("synthetic", "tabel"), "line 2: people: there is no 'tabel': did you"),
        ("[people]\nusers = 3", "line 1: people: this needs a kind: synthetic, table, files"),
        ("people = 5", r"line 1: people: this is a section of its own: \[people\]"),
        ("release = 1" + PEOPLE, r"line 1: release: this is a section of its own: \[release\]"),
        ('\nattacks = ["haming"]' + PEOPLE, "line 2: attacks.0: there is no attack 'haming'"),
        ('attacks = ["nowhere:It"]' + PEOPLE, "line 1: attacks.0: 'nowhere:It' .* be imported"),
        ('attacks = ["math:pi"]' + PEOPLE, "line 1: attacks.0: 'math:pi' should be an attack, but"),
        ("attacks = [3]" + PEOPLE, "line 1: attacks.0: a name is text in quotes; got 3"),
        ('attacks = "hamming"' + PEOPLE, "line 1: attacks: input should be a valid list"),
        ('bounds = ["math:pi"]' + PEOPLE, "line 1: bounds.0: 'math:pi' should be a bound"),
        ('bounds = ["nowhere:it"]' + PEOPLE, "line 1: bounds.0: 'nowhere:it' .* be imported"),
        ("noise = 0.1" + PEOPLE, "line 1: noise: there is no such key. There are attacks"),
        (PEOPLE + "[release]\nnois = 0.1", "line 6: release.nois: there is no such key: did you"),
        (PEOPLE + "[release]\nnoise = 5", "line 6: release.noise: noise is between 0.* mean 5%"),
        (PEOPLE + "[release]\ntop = 0", "line 6: release.top: .* a whole number of at least 1"),
        (PEOPLE + '[release]\nmemory = "x"', "line 6: release.memory: .* at least 1"),
        (PEOPLE + "[release]\ndelay = 9", "line 6: release.delay: .* from 0 to 7"),
        (PEOPLE + "[release]\ntop = 400", "line 6: release.top: top is at most the number"),
        (PEOPLE + '[release]\nkind = "topic"', "line 6: release.kind: there is no 'topic': did"),
        (PEOPLE + "[release]\nkind = 3", "line 6: release.kind: a name is text in quotes; got 3"),
        (PEOPLE + '[release]\nkind = "a.b:C"', "line 6: release.kind: 'a.b:C' .* be imported"),
        (PEOPLE + '[release]\nkind = "math:pi"', "line 6: release.kind: .* be a release, but is"),
        (PEOPLE + '[release]\nkind = "math:x"', "line 6: release.kind: .* 'math' has no 'x'"),
        (PEOPLE + '[release]\nkind = "randomised-response"',
         "line 5: release.epsilon: this key is needed: Local differential.* of at least 0"),
        (PEOPLE + '[release]\nkind = "item-samples"\nsamples = true',
         "line 7: release.samples: .* at least 1, not true or false; .* such as samples = 1"),
        (PEOPLE + '[release]\nkind = "item-samples"\nsamples = 1\nby_count = "no"',
         "line 8: release.by_count: by_count is true or false, got 'no'"),
        (PEOPLE + "release.top = 0", "line 5: people.release: there is no such key"),
        (PEOPLE + "[per_user]\nuser = 3", "line 6: per_user.user: .* did you mean users"),
        ("targets = -1" + PEOPLE, "line 1: targets: a size is a whole number"),
        ('slots = [1,\n"a"]' + PEOPLE, "line 1: slots.1: this is a whole number, with"),
        ("slots = []" + PEOPLE, "study.toml, line 1: slots: slots is empty"),
        ("slots = [0]" + PEOPLE, "line 1: slots.0: this is at least 1, got 0"),
        ("attacks = []" + PEOPLE, "line 1: attacks: attacks is empty; a study has at"),
        ("guesses = [0]" + PEOPLE, "line 1: guesses.0: this is at least 1, got 0"),
        ('training = "100%"' + PEOPLE, "line 1: training: training is a share of users below 1"),
        ('level = "5%"' + PEOPLE, "line 1: level: level is how sure .* did you mean 0.95"),
        ('level = "100%"' + PEOPLE, "line 1: level: level is above 0 and below 1"),
        (PEOPLE + "[sweep]\nnoize = [1]", "line 6: sweep.noize: 'noize' .* did you mean noise"),
        (PEOPLE + '[sweep]\nnoise = ["x"]', "line 6: sweep.noise: noise is between 0 and 1"),
        (PEOPLE + "[sweep]\nparents = [1]", "line 6: sweep.parents: parents is not a number"),
        (PEOPLE + "[sweep]\nnoise = 0.3", "line 6: sweep.noise: input should be a valid list"),
        ("full_information = true" + PEOPLE + ITEMS,
         "line 1: full_information: full_information needs a release that can reveal"),
        ('[people]\nkind = "table"\npath = "absent.csv"',
         "line 3: people.path: absent.csv: there is no such file"),
        ('[people]\nkind = "linked"\nanonymous = "a.csv"\nknown = "k.csv"',
         "line 4: people.known: k.csv: there is no such file"),
        ("full_information = true" + PEOPLE + "[release]\ndelay = 1",
         "line 1: full_information: full_information cannot be computed: with several weeks"),
        ("slots = [1, 9]" + PEOPLE, "line 1: slots: slots go up to 9, and people with 8 epochs"),
        (PEOPLE + "[signoff]\nlimit = 1", "line 6: signoff.limit: a share of 1 is 100 %, every"),
        (PEOPLE + "[release]\nnoise = 1", "line 6: release.noise: noise of 1 is 100 %, everything"),
        (PEOPLE + "epochs = 0", "line 5: people.epochs: this is at least 1, got 0"),
        ('\nattacks = ["hamming", "weighted-hamming"]' + PEOPLE + ITEMS,
         "line 2: attacks.1: weighted-hamming needs a release that can say with which"),
        ('attacks = ["hamming"]\nmodels = ["hamming"]' + PEOPLE,
         "line 2: models.0: hamming rates users without saying"),
        ('[people]\nkind = "linked"\nknown = "k"', "line 1: people.anonymous: this key is needed"),
    ],
)  # fmt: skip
def test_slips_are_found_with_their_line(text, message):
    with pytest.raises(InvalidInput, match=message):
        study_file(text)


def test_every_slip_is_named_at_once():
    with pytest.raises(InvalidInput) as wrong:
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
             keys.TwoTables, keys.PerUser)  # fmt: skip
    for kind in kinds:
        for name in kind.model_fields:
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
    ("text", "message"),
    [
        ("seed = " + "1" * 5_000 + PEOPLE, "cannot be read: a number is too long"),
        ("seed = " + "[" * 50_000 + "]" * 50_000 + PEOPLE, "cannot be read: it is nested too deep"),
        ("seed = " + "{a=" * 5_000 + "1" + "}" * 5_000 + PEOPLE, "cannot be read: it is nested"),
        (f"[a{'.a' * 1_000}]", "line 1: a: nothing in a study file is nested more than 16 levels"),
        (f"a = {'[' * 20}{']' * 20}{PEOPLE}", "line 1: a: nothing in a study file is nested more"),
        ("full_information = 1" + PEOPLE, "line 1: full_information: this is true or false, got 1"),
        (PEOPLE + "[signoff]\nwho = 1", "line 6: signoff.who: there is no such key"),
        ("beside = [1]" + PEOPLE, r"line 1: beside.0: this is a section of its own: \[\[beside"),
    ],
    ids=lambda text: text[:20],
)
def test_odd_study_files_get_a_message(text, message):
    with pytest.raises(InvalidInput, match=f"^study.toml,? {message}"):
        study_file(text)


def test_lines_of_blanks_are_read_at_once():
    """The line of a slip was looked for in cubic time: minutes for 4,000 blanks."""
    text = f'seeed = 1\ntitle = """\n[{" " * 100_000}x\n"""{PEOPLE}'
    with pytest.raises(InvalidInput, match="line 1: seeed: there is no such key"):
        study_file(text)
