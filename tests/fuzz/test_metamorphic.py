"""The same data written otherwise gives the same figures, or is refused: never other figures."""

import pytest
from tests.fuzz import changes
from tests.fuzz.running import chance, limits
from tests.fuzz.scenes import SCENES, figures

pytestmark = pytest.mark.fuzz


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The figures of each scene as it is."""
    found = {}

    def measure(name):
        if name not in found:
            done = shown(name, SCENES[name].tables, tmp_path_factory.mktemp("plain"))
            assert done.code == 0, done.err
            found[name] = figures(done)
        return found[name]

    return measure


def shown(name, tables, place, written=None):
    """Run a scene on tables, each in a file of its format: CSV, if none is named."""
    files = {}
    for table, content in tables.items():
        end, write = (written or {}).get(table, ("file.csv", changes.FORMATS["quotes"][1]))
        files[table] = f"{table}-{end}"
        write(content, place / files[table])
    with limits():
        return SCENES[name].done(files, place)


def same_or_refused(done, before, *, refusable=True):
    if done.code == 2 and refusable:
        assert done.err.count("\n") == 1, done.err
        return
    assert done.code == 0, done.err
    assert figures(done) == before


@pytest.mark.parametrize("written", changes.FORMATS)
@pytest.mark.parametrize("name", SCENES)
def test_another_format_gives_the_same_figures(measured, tmp_path, name, written):
    tables = SCENES[name].tables
    done = shown(name, tables, tmp_path, dict.fromkeys(tables, changes.FORMATS[written]))
    same_or_refused(done, measured(name), refusable=False)


@pytest.mark.parametrize("written", changes.FORMATS)
@pytest.mark.parametrize("name", [name for name in SCENES if name.startswith("link")])
def test_another_format_of_one_side_gives_the_same_figures(measured, tmp_path, name, written):
    done = shown(name, SCENES[name].tables, tmp_path, {"known": changes.FORMATS[written]})
    same_or_refused(done, measured(name), refusable=False)


@pytest.mark.parametrize("arranged", changes.ARRANGED)
@pytest.mark.parametrize("name", SCENES)
def test_another_arrangement_gives_the_same_figures(measured, tmp_path, name, arranged):
    change, rng = changes.ARRANGED[arranged], chance(f"{name}/{arranged}")
    tables = {key: change(rng, table) for key, table in SCENES[name].tables.items()}
    same_or_refused(shown(name, tables, tmp_path), measured(name))


NAMED = [(name, column) for name, scene in SCENES.items() for column in scene.labels]


@pytest.mark.parametrize("labels", changes.LABELS)
@pytest.mark.parametrize(("name", "column"), NAMED)
def test_other_labels_give_the_same_figures(measured, tmp_path, name, column, labels):
    tables = dict(SCENES[name].tables)
    entries = sorted({cell for table in tables.values() for cell in table.column(column)})
    chance(f"{name}/{column}").shuffle(entries)
    new = changes.renamed(tables, column, changes.LABELS[labels], entries)
    same_or_refused(shown(name, new, tmp_path), measured(name))


ORDERED = [
    (name, column, labels)
    for name, scene in SCENES.items()
    for column in (*scene.drawn, *filter(None, [scene.epochs]))
    for labels in (changes.EPOCHS if column == scene.epochs else changes.SORTED)
]


@pytest.mark.parametrize(("name", "column", "labels"), ORDERED)
def test_labels_in_the_same_order_give_the_same_figures(measured, tmp_path, name, column, labels):
    tables = dict(SCENES[name].tables)
    entries = changes.natural({cell for table in tables.values() for cell in table.column(column)})
    new = changes.renamed(tables, column, changes.EPOCHS[labels], entries)
    same_or_refused(shown(name, new, tmp_path), measured(name))


SIDED = [(name, column) for name in SCENES if name.startswith("link")
         for column in (*SCENES[name].labels, *filter(None, [SCENES[name].epochs]))]  # fmt: skip


@pytest.mark.parametrize("written", changes.SIDES)
@pytest.mark.parametrize("side", ["known", "anonymous"])
@pytest.mark.parametrize(("name", "column"), SIDED)
def test_what_one_side_writes_otherwise_is_understood_or_refused(
    measured, tmp_path, name, column, side, written
):
    tables = dict(SCENES[name].tables)
    tables[side] = tables[side].replaced(column, changes.SIDES[written])
    same_or_refused(shown(name, tables, tmp_path), measured(name))


@pytest.mark.parametrize("side", ["known", "anonymous"])
@pytest.mark.parametrize("between", ["; ", " ;", " ; "])
def test_blanks_in_lists_of_one_side_change_nothing(measured, tmp_path, side, between):
    tables = dict(SCENES["link lists"].tables)
    tables[side] = tables[side].replaced("tokens", lambda text: text.replace(";", between))
    same_or_refused(shown("link lists", tables, tmp_path), measured("link lists"))


@pytest.mark.parametrize("name", ["link", "link lists", "link baskets", "plays", "unicity"])
def test_numbers_as_numbers_of_parquet_give_the_same_figures(tmp_path, name):
    """Ids and tokens that are text in CSV, and whole numbers in Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    tables = dict(SCENES[name].tables)
    for column in ("user", "item"):
        if column in next(iter(tables.values())).names:
            entries = sorted({cell for table in tables.values() for cell in table.column(column)})
            tables = changes.renamed(tables, column, lambda at: str(at + 1), entries)
    done = shown(name, tables, tmp_path)
    assert done.code == 0, done.err

    def whole(table, path):
        columns = {key: table.column(key) for key in table.names}
        for key in set(columns) - {"tokens"}:
            columns[key] = pa.array([int(cell) for cell in columns[key]])
        if "tokens" in columns:
            columns["tokens"] = pa.array(
                [[int(one) for one in cell.split(";")] for cell in columns["tokens"]]
            )
        parquet.write_table(pa.table(columns), path)

    numbers = dict.fromkeys(tables, ("file.parquet", whole))
    same_or_refused(shown(name, tables, tmp_path, numbers), figures(done), refusable=False)
