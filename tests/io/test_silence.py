"""Nothing wrong passes in silence at the border to tables, and no message quotes a person."""

import gzip
import random
import re
import traceback

import click
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import parquet
from tests.cli.tools import call
from tests.snapshots import refuses

import reidrisk as rr
from reidrisk import InvalidInput
from reidrisk.cli.app import cli
from reidrisk.data import (
    Layout,
    read_histories,
    read_linked,
    read_plays,
    read_profiles,
    read_taxonomy,
    read_tfrecord_profiles,
    read_token_weights,
    read_topic_tree,
)
from reidrisk.errors import TooLarge
from reidrisk.io import unpacking as streams
from reidrisk.io.inspect import inspect_file
from reidrisk.io.labels import NOTHING
from reidrisk.study.toml import study_file

SECRET = "Zq7ann"  # noqa: S105  the name of a user
DOMAINS = {"a.org": ["x"], "b.org": ["y"]}
READERS = {
    "people": read_profiles,
    "plays": read_plays,
    "link": lambda path: read_linked(path, path),
    "link columns": lambda path: read_linked(path, path, layout=Layout(columns=("token",))),
    "singling": lambda path: rr.singling(path, columns=["token"], user="user"),
    "unicity": lambda path: rr.unicity(path, points=[1]),
    "histories": lambda path: read_histories(path, DOMAINS, columns={"domain": "where"}),
    "bounds": rr.theory.read_matrix,
    "inspect": inspect_file,
    "taxonomy": read_taxonomy,
    "topic tree": read_topic_tree,
    "token weights": read_token_weights,
    "TFRecord": read_tfrecord_profiles,
}
ALL = "user,epoch,token,timestamp,where,representation,probability\n"
TWO = "{0},1,x,2023-01-01,a.org,p,1\nbob,1,y,2023-01-02,b.org,q,1\n"
WITH_USERS = [name for name in READERS if name not in
              {"inspect", "taxonomy", "topic tree", "token weights", "TFRecord"}]  # fmt: skip


def saved(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(read, *arguments):
    """What a reader refuses with, if it does; nothing else may happen."""
    try:
        read(*arguments)
    except InvalidInput as wrong:
        return wrong
    return None


def as_parquet(path, **columns):
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    "name", ["Weight", "weights", "WEIGHT", "wieght", "Weigths", "visits", "vists", "count"]
)
def test_a_column_that_may_be_the_weight_is_not_ignored(tmp_path, name):
    path = saved(tmp_path / "p.csv", f"user,epoch,token,{name}\nann,1,x,7\nbob,1,x,3\n")
    with refuses("unclear-column"):
        read_profiles(path)
    assert read_profiles(path, layout=Layout(count=name)).weights.tolist() == [7, 3]
    table = {"user": ["ann"], "epoch": [1], "token": ["x"], name: [7]}
    with refuses("unclear-column"):
        read_profiles(as_parquet(tmp_path / "p.parquet", **table))


@pytest.mark.parametrize("name", ["counts", "cuont", "playz", "vists", "Weigths", "listen_count"])
def test_a_column_that_may_be_the_count_is_not_ignored(tmp_path, name):
    path = saved(tmp_path / "p.csv", f"user,item,{name}\nann,x,7\nbob,x,3\n")
    with refuses("unclear-column"):
        read_plays(path)
    assert read_plays(path, layout=Layout(count=name)).weights.tolist() == [7, 3]
    assert rr.unicity(path, points=[1]).users == 2  # to whom counts do not matter


@pytest.mark.parametrize("name", ["time", "country", "county", "height", "price", "discount"])
def test_other_columns_are_still_not_read(tmp_path, name):
    path = saved(tmp_path / "p.csv", f"user,epoch,token,{name}\nann,1,x,7\nbob,1,x,3\n")
    assert read_profiles(path).weights.tolist() == [1, 1]
    assert read_plays(path).weights.tolist() == [1, 1]


@pytest.mark.parametrize("said", ['columns = {weight = "vists"}', 'count = "vists"'])
def test_a_column_that_a_study_file_names_must_be_there(tmp_path, said):
    saved(tmp_path / "p.csv", "user,epoch,token,visits\nann,1,x,7\nbob,1,x,3\n")
    text = f'[people]\nkind = "table"\npath = "p.csv"\n{said}\n'
    with refuses("column-not-found"):
        study_file(text, folder=tmp_path)
    with refuses("unclear-column"):
        study_file(text.replace(said, ""), folder=tmp_path)


@pytest.mark.parametrize("name", ["Epoch", "epochs", "epcoh"])
def test_a_misspelt_epoch_does_not_make_baskets_of_slots(tmp_path, name):
    path = saved(tmp_path / "k.csv", f"user,{name},token\nann,1,x\nann,2,y\nbob,1,x\nbob,2,z\n")
    with refuses("unclear-column"):
        read_linked(path, path)
    assert read_linked(path, path, layout=Layout(epoch=name)).slots == 2
    done = call("release", "topics", path, "--top", 1, "-o", tmp_path / "seen")
    assert (done.returncode, "no column 'epoch'" in done.stderr) == (2, True)


def test_how_a_file_is_cut_does_not_change_what_it_is(tmp_path):
    """With --separator, a table of epochs was read as plays, without its epochs."""
    path = saved(tmp_path / "p.csv", "user,epoch,token\nann,1,x\nann,2,y\nbob,1,x\nbob,2,y\n")
    for options in ((), ("--separator", ","), ("--header",)):
        done = call("release", "topics", path, "--top", 1, "-o", tmp_path / "seen", *options)
        assert (done.returncode, ", 2 slots," in done.stdout) == (0, True), done.stderr


PAIRS = [("01", "1"), ("9007199254740993", "9007199254740992"), ("true", "True"), ("1", "1.0"),
         ("18446744073709551615", "18446744073709551614"), ("2023-01-01", "2023-01-01T00:00:00"),
         ("1" * 5000, "1" * 4999 + "2"), ("1e5", "100000"), ("NA", "NaN")]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[pair[0][:12] for pair in PAIRS])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_that_are_written_differently_are_different_everywhere(tmp_path, one, other, kind):
    rows = {"user": ["ann", "bob"], "epoch": ["1", "1"], "token": [one, other],
            "timestamp": ["2023-01-01"] * 2, "where": ["a.org", "b.org"],
            "representation": [one, other], "probability": [1.0, 1.0]}  # fmt: skip
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    path = (
        as_parquet(tmp_path / "t.parquet", **rows)
        if kind == "parquet"
        else saved(tmp_path / "t.csv", "\n".join(lines))
    )
    assert len(read_profiles(path).labels) == len(read_plays(path).labels) == 2
    assert len(read_linked(path, path).labels) == len(read_taxonomy(path, column="token")) == 2
    assert rr.theory.random_user_optimum(rr.theory.read_matrix(path)) == 1
    assert rr.singling(path, columns=["token"]).unique == 2
    assert next(iter(rr.unicity(path, points=[1]))).singled_out.value == 1


@pytest.mark.parametrize("word", NOTHING)
def test_a_word_for_nothing_is_no_user_of_plays(tmp_path, word):
    path = saved(tmp_path / "t.csv", ALL + TWO.format(word))
    with pytest.warns(UserWarning, match="1 of 2 rows name no user"):
        assert read_plays(path).users == 1


@pytest.mark.parametrize("word", ["NULL", "nan", "\\N"])
def test_a_word_for_nothing_is_no_user(tmp_path, word):
    path = saved(tmp_path / "t.csv", ALL + TWO.format(word))
    columns = {name: ["x", "1"] for name in ALL.strip().split(",")} | {"user": ["ann", word]}
    packed = as_parquet(tmp_path / "t.parquet", **columns | {"probability": [1.0, 1.0]})
    for name in WITH_USERS:
        for given in [path] + [packed] * (name != "histories"):
            if name in {"histories", "bounds"}:
                with refuses("missing-user"):
                    READERS[name](given)
            else:
                with pytest.warns(UserWarning, match="1 of 2 rows name no user"):
                    READERS[name](given)


def test_a_table_in_memory_has_no_user_called_nothing():
    with refuses("missing-user"):
        rr.data.make_profiles(["ann", "NULL"], [1, 1], ["x", "y"])


LEAKING = {
    "ragged rows": ALL + TWO.format(SECRET) + f"{SECRET},1\n",
    "no header": f"{SECRET},1,x\n{SECRET}b,2,y\n",
    "no header, of words": f"{SECRET},u,x\n{SECRET}b,v,y\n",
    "no header, one cell empty": f"{SECRET},,x\n{SECRET}b,2,y\n{SECRET}c,2,y\n",
    "users as weights": f"user,epoch,token,weight\n1,1,x,{SECRET}\n",
    "users as probabilities": f"user,representation,probability\n1,x,{SECRET}\n",
    "numbers of users as probabilities": "user,representation,probability\n1,x,7654321\n",
    "numbers of users as weights": "user,epoch,token,weight\n1,1,x,-7654321\n",
    "users as times": f"user,timestamp,where\n1,{SECRET},a.org\n",
    "numbers of users as times": "user,timestamp,where\n1,7654321765432176543,a.org\n",
    "users as topics": f"id,topic\n{SECRET},/x\n",
    "users as a taxonomy": f"token\n{SECRET}\n{SECRET}\n",
    "bytes that are no text": ALL.encode() + SECRET.encode() + b"\xff,1,x,2023-01-01,a.org,p,1\n",
    "bytes that are no text, no header": SECRET.encode() + b",1\n\xff,2\n3,4\n",
    "rows twice": ALL + 2 * TWO.format(SECRET),
    "an open quote": ALL + f'"{SECRET},1,x\n{SECRET},1,x\n',
    "line ends of several kinds": f"user,token\r{SECRET},x\r{SECRET}b,y\n",
    "a JSON line": f'{{"token_id": "{SECRET}", "match_weight": 1, "mismatch_weight": 2}}\n',
}


@pytest.mark.parametrize("case", LEAKING)
@pytest.mark.parametrize("header", [None, pytest.param(True, marks=pytest.mark.slow)])
def test_no_message_and_no_chain_of_causes_quotes_a_cell(tmp_path, case, header):
    path = saved(tmp_path / "t.csv", LEAKING[case])
    layout = Layout(header=header)
    said = [lambda: read_profiles(path, layout=layout), lambda: read_plays(path, layout=layout),
            lambda: read_linked(path, path, layout=layout),
            lambda: inspect_file(path, layout)]  # fmt: skip
    found = [refusal(read) for read in said] + [refusal(read, path) for read in READERS.values()]
    assert any(found)
    for wrong in filter(None, found):
        told = "".join(traceback.format_exception(wrong))
        lines = [line for line in told.splitlines() if not line.startswith(" ")]
        assert not any(SECRET in line or "7654321" in line for line in lines), lines
        assert "\n" not in str(wrong)


def test_a_token_outside_of_the_taxonomy_is_named_by_its_row(tmp_path):
    path = saved(tmp_path / "t.csv", ALL + TWO.format("ann").replace("y", SECRET))
    for read in (
        read_profiles,
        read_plays,
        lambda p, taxonomy: read_linked(p, p, taxonomy=taxonomy),
    ):
        with refuses("not-in-taxonomy") as caught:
            read(path, taxonomy=["x"])
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("how", [{"rounding": 10}, {"dates": "month"}])
def test_tokens_that_cannot_be_made_coarser_are_not_quoted(how):
    people = rr.data.make_profiles(["ann", "bob"], [1, 1], ["7", SECRET])
    with refuses("wrong-label-type") as caught:
        rr.Generalised(**how, of=rr.ItemSamples(samples=1)).surveyed(people)
    assert SECRET not in "".join(traceback.format_exception_only(caught.value))


def test_a_fault_of_ours_tells_where_and_quotes_nothing(tmp_path, monkeypatch):
    def fails(_):
        try:
            pa.array([SECRET]).cast(pa.int64())
        except pa.ArrowInvalid as wrong:
            raise KeyError(SECRET) from wrong

    np.save(tmp_path / "release.npy", np.eye(2))
    monkeypatch.setattr("reidrisk.theory.bounds", fails)
    done = call("bounds", tmp_path / "release.npy")
    assert done.returncode == 1
    assert SECRET not in done.stderr
    assert "KeyError, after ArrowInvalid" in done.stderr
    assert "in fails" in done.stderr


def dictionary_of(text, rows):
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))


HUGE = {
    "a text that comes again and again": lambda rows: {
        "user": np.arange(rows), "item": dictionary_of("x" * 9000, rows)},
    "the same in lists": lambda rows: {
        "user": ["a"],
        "item": pa.ListArray.from_arrays([0, rows], dictionary_of("x" * 9000, rows))},
    "one number": lambda rows: {"user": np.zeros(90 * rows, np.int64), "item": ["x"] * 90 * rows},
    "long texts": lambda rows: {"user": np.arange(rows), "item": ["x" * 9000] * rows},
}  # fmt: skip


@pytest.mark.parametrize("case", HUGE)
@pytest.mark.parametrize("read", [read_plays, inspect_file, lambda path: read_linked(path, path)])
def test_a_parquet_file_that_expands_without_measure_is_stopped(tmp_path, monkeypatch, case, read):
    monkeypatch.setattr(streams, "ANY_TIMES_UNTIL", 1 << 20)
    path = tmp_path / "t.parquet"
    parquet.write_table(
        pa.table(HUGE[case](2000)), path, compression="zstd", use_dictionary=case != "long texts"
    )
    with refuses("suspicious-expansion", TooLarge):
        read(path)
    monkeypatch.setenv("REIDRISK_MOST_EXPANSION", "1000000")
    if read is read_plays:
        assert read(path).users >= 1


def test_an_array_and_a_tfrecord_file_that_expand_without_measure_are_stopped(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(streams, "ANY_TIMES_UNTIL", 1 << 18)
    monkeypatch.setattr(streams, "MOST_TIMES", 2)
    many = sp.csr_array((np.ones(1 << 17), (np.arange(1 << 17), np.zeros(1 << 17, np.int64))))
    sp.save_npz(tmp_path / "m.npz", many)
    saved(tmp_path / "t.tfrecord.gz", gzip.compress(bytes(1 << 22)))
    for read, name in ((rr.theory.read_matrix, "m.npz"), (read_tfrecord_profiles, "t.tfrecord.gz")):
        with refuses("suspicious-expansion", TooLarge):
            read(tmp_path / name)
    monkeypatch.setenv("REIDRISK_MOST_EXPANSION", "100000")
    assert rr.theory.read_matrix(tmp_path / "m.npz").users == 1 << 17


def test_notes_of_a_damaged_parquet_file_do_not_end_the_process(tmp_path):
    """Arrow ends the process where it is asked for notes that are damaged."""
    path = as_parquet(tmp_path / "t.parquet", user=["a", "b"], item=["x", "y"])
    whole, drawn = path.read_bytes(), random.Random(5)  # noqa: S311
    for _ in range(300):
        cut = bytearray(whole)
        for _ in range(3):
            cut[drawn.randrange(len(cut) // 3, len(cut))] = drawn.randrange(256)
        saved(path, bytes(cut))
        for read in (read_plays, read_taxonomy):
            assert (wrong := refusal(read, path)) is None or str(path) in str(wrong)


def test_damaged_rows_in_a_file_are_refused(tmp_path):
    path = as_parquet(tmp_path / "t.parquet", tokens=pa.array([[1, 2], [3, 4]]))
    whole, drawn = path.read_bytes(), random.Random(6)  # noqa: S311
    for _ in range(100):
        cut = bytearray(whole)
        cut[drawn.randrange(len(cut))] ^= 1 << drawn.randrange(8)
        saved(path, bytes(cut))
        refusal(lambda: rr.ParquetRows(path, tokens=9).block(0, 2))
    with refuses("file-not-found"):
        rr.ParquetRows(tmp_path / "none.parquet", tokens=9)


NUMBERS = {
    "people": "user,epoch,token,weight\nann,1,x,{}\n",
    "bounds": "user,representation,probability\nann,x,{}\n",
    "histories": "user,timestamp,where\nann,{},a.org\n",
    "topic tree": "id,topic\n{},/x\n",
    "token weights": '{{"token_id": {}, "match_weight": 1, "mismatch_weight": 1}}\n',
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "number", ["9" * 5000, "9" * 30, "-" + "9" * 5000], ids=["5000", "30", "-"]
)
def test_numbers_beyond_all_bounds_are_refused(tmp_path, name, number):
    if (name, number) == ("people", "9" * 30):
        assert read_profiles(saved(tmp_path / "t.csv", NUMBERS[name].format(number))).users == 1
        return
    path = saved(tmp_path / "t.csv", NUMBERS[name].format(number))
    with pytest.raises(InvalidInput, match=r"t\.csv"):
        READERS[name](path)


@pytest.mark.parametrize("weight", ["1" + "0" * 400, '"1"', "[1]", "true"])
def test_weights_beyond_all_bounds_are_refused(tmp_path, weight):
    line = f'{{"token_id": 1, "match_weight": {weight}, "mismatch_weight": 1}}\n'
    with refuses("not-finite"):
        read_token_weights(saved(tmp_path / "w.json", line))


def test_brackets_without_end_are_no_json(tmp_path):
    with refuses("malformed-line"):
        read_token_weights(saved(tmp_path / "w.json", "[" * 100_000))


def test_times_of_64_bits_without_sign_are_refused_by_their_row(tmp_path):
    times = pa.array([1, 2**63], pa.uint64())
    path = as_parquet(
        tmp_path / "t.parquet", user=["a", "b"], timestamp=times, domain=["a.org"] * 2
    )
    with refuses("invalid-timestamp"):
        read_histories(path, DOMAINS)


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.binary()])
def test_columns_that_are_no_labels_are_refused(tmp_path, kind):
    wrong = pa.array([["x"]] if kind != pa.binary() else [b"\xff"], kind)
    path = as_parquet(tmp_path / "t.parquet", user=["a"], token=wrong)
    with pytest.raises(InvalidInput, match=r"'token' (holds large_list|is not UTF-8)"):
        READERS["link columns"](path)


def test_a_file_whose_users_are_all_empty_can_be_looked_at(tmp_path):
    path = as_parquet(tmp_path / "t.parquet", user=pa.nulls(2), age=["x", "y"])
    assert inspect_file(path).users is None


def test_a_number_that_is_none_is_named_by_its_own_column(tmp_path):
    lines = "a,user,epoch,weight,token\n1,ann,1,2,x\n1,bob,1,two,x\n"
    with refuses("malformed-line"):
        read_profiles(saved(tmp_path / "t.csv", lines))


def advised(command):
    """The options of a command, by the words that name it."""
    found = cli
    for word in command:
        found = found.get_command(click.Context(found), word)
    return {option for one in found.params for option in (*one.opts, *one.secondary_opts)}


@pytest.mark.parametrize(
    "command",
    [("bounds",), ("items",), ("link",), ("singling",), ("unicity",), ("inspect",),
     ("release", "topics")],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize(
    "content",
    ["a,b\n1,2\n", "a;b,c\nd;e,f\n", "a b\nc d\n", "ann,x\nbob,y\n", "a,b\n1\n1,2,3\n",
     "user,epoch,token,weigth\n1,1,1,1\n", "user,epoch,token\n1,1,1\n1,1,1\n"],
)  # fmt: skip
def test_no_message_advises_an_option_that_the_command_lacks(tmp_path, command, content):
    path = saved(tmp_path / "t.csv", content)
    more = {"link": [path], "singling": ["--columns", "age"], "release": ["-o", tmp_path / "o"]}
    done = call(*command, path, *more.get(command[0], []))
    assert done.returncode in {0, 2}
    said = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stderr))
    assert said <= advised(command), done.stderr


WORDS = ["NULL", "", '"', "\r", "\n", "\0", "é", "1e999", "-1", "9" * 25, "9" * 5000, "1,5", ";",
         "\t", "|", "::", "9999-12-31", "true", "٣", "\ufeff", "inf", "nan", " ", "user", "token",
         "a" * 70_000, "[]", "1.0", "20230501"]  # fmt: skip


@pytest.mark.filterwarnings("ignore::reidrisk.errors.Assumed")  # a broken header may be a title
@pytest.mark.parametrize("seed", range(6))
def test_mutated_tables_are_read_or_refused_in_one_line(tmp_path, seed):
    drawn = random.Random(seed)  # noqa: S311
    base = (ALL + TWO.format(SECRET)).encode()
    path = tmp_path / "t.csv"
    for _ in range(10):
        body = bytearray(base)
        for _ in range(drawn.randint(1, 4)):
            place = drawn.randrange(len(body))
            word = drawn.choice(WORDS).encode() if drawn.random() < 0.7 else drawn.randbytes(2)
            body[place : place + drawn.randint(0, 6)] = word
        saved(path, bytes(body))
        for read in READERS.values():
            wrong = str(refusal(read, path))
            assert "\n" not in wrong
            assert SECRET not in wrong
