"""A sales log as shops export it, from `inspect` to the report with no script.

The columns, empty customers, returns, times and encoding are those of the Online Retail data.
"""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.tools import call
from tests.workbooks import write_workbook

import reidrisk as rr


def sales(rows=600, seed=1):
    """Invoices with cancelled ones, customers who were not recorded, and American times."""
    drawn = np.random.default_rng(seed)
    minutes = np.sort(drawn.integers(0, 60 * 24 * 60, rows))
    times = pd.Timestamp("2010-12-01 08:26") + pd.to_timedelta(minutes, unit="min")
    returned = drawn.random(rows) < 0.05
    amount = drawn.integers(1, 13, rows)
    customers = drawn.integers(12_346, 12_386, rows).astype(object)
    customers[drawn.random(rows) < 0.25] = ""
    codes = [f"{85_000 + number % 60}A" for number in (5 * drawn.pareto(1, rows)).astype(int)]
    return pd.DataFrame({
        "InvoiceNo": [
            f"{'C' if back else ''}{536_365 + row // 5}" for row, back in enumerate(returned)
        ],
        "StockCode": codes,
        "Description": [f"CAF\u00c9 LIGHT, \u00a3{code}" for code in codes],
        "Quantity": np.where(returned, -amount, amount),
        "InvoiceDate": [f"{t.month}/{t.day}/{t.year} {t.hour}:{t.minute:02}" for t in times],
        "UnitPrice": [f"{price:.2f}" for price in 10 * drawn.random(rows)],
        "CustomerID": customers,
        "Country": drawn.choice(["United Kingdom", "France", "EIRE"], rows),
    })  # fmt: skip


@pytest.fixture(name="log", params=["csv", "xlsx"])
def saved(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = sales()
    if request.param == "csv":
        frame.to_csv("retail.csv", index=False, encoding="latin-1")
    else:
        pytest.importorskip("python_calamine")
        rows = frame.astype(object).to_numpy().tolist()
        write_workbook("retail.xlsx", [list(frame), *rows])
    return frame, f"retail.{request.param}"


def suggested(stdout):
    """The commands that `inspect` prints, by their names."""
    joined = re.sub(r"\s*\\\n\s*", " ", stdout)
    found = [shlex.split(line)[1:] for line in joined.splitlines() if line.startswith("    reidr")]
    return {words[0]: words for words in found}


def by_pandas(frame):
    """Net sums of customers and items, and who is singled out by their rarest points."""
    named = frame[frame["CustomerID"] != ""].copy()
    named["CustomerID"] = named["CustomerID"].astype(int)
    sums = named.groupby(["CustomerID", "StockCode"])["Quantity"].sum()
    times = pd.to_datetime(named["InvoiceDate"], format="%m/%d/%Y %H:%M")
    alone = {}
    for how, when in (("as written", named["InvoiceDate"]), ("day", times.dt.date)):
        points = named.assign(when=when)[["CustomerID", "StockCode", "when"]].drop_duplicates()
        crowd = points.groupby(["StockCode", "when"])["CustomerID"].transform("size")
        alone[how] = float((crowd.groupby(points["CustomerID"]).min() == 1).mean())
    return sums[sums > 0], alone


def stored(folder):
    return json.loads(Path(folder, "result.json").read_text(encoding="utf-8"))


def test_a_sales_log_goes_through_to_its_reports(log):
    frame, path = log
    sums, alone = by_pandas(frame)
    nobody = int((frame["CustomerID"] == "").sum())
    encoding = ["--encoding", "latin-1"] if path.endswith("csv") else []
    if encoding:
        # What must be said is said with the option that says it.
        assert "--encoding latin-1" in call("inspect", path).stderr
    looked = call("inspect", path, *encoding)
    assert looked.returncode == 0, looked.stderr
    commands = suggested(looked.stdout)
    assert "--returns" in commands["items"]

    done = call(*commands["unicity"], "--known", "rarest", "--coarsen", "day", "--points", "1")
    assert done.returncode == 0, done.stderr
    assert f"{nobody:,} of {len(frame):,} rows name no user and are left out" in done.stderr
    found = stored("unicity")
    figures = {
        one["coarsening"]: one["singled_out"]["value"] for one in found["unicity"]["figures"]
    }
    assert figures == pytest.approx(alone)
    assert any("rows name no user" in one for one in found["warnings"])

    done = call(*commands["items"], "--targets", "20")
    assert done.returncode == 0, done.stderr
    back = int(((frame["CustomerID"] != "") & (frame["Quantity"] < 0)).sum())
    assert f"note: {path}: counts below zero, {back} in all, are added up" in done.stderr
    found = stored("items")
    assert found["users"] == sums.index.get_level_values(0).nunique()
    for folder in ("unicity", "items"):
        assert "name no user" in Path(folder, "report.html").read_text(encoding="utf-8")
        # Nobody accepted that a quarter of the rows is of nobody known.
        assert call("gate", folder, "--max-risk", "99.9999%").returncode == 3


def test_people_of_a_sales_log_are_those_of_pandas(log):
    frame, path = log
    sums, _ = by_pandas(frame)
    layout = rr.data.Layout(
        user="CustomerID", item="StockCode", count="Quantity", returns="net",
        encoding="latin-1" if path.endswith("csv") else None,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="name no user"):
        people = rr.data.read_plays(path, layout=layout)
    found = {}
    for place, user in enumerate(people.ids.tolist()):
        items, weights = people.cell(place, 0)
        found |= {(user, people.labels[item]): weight
                  for item, weight in zip(items, weights, strict=True)}  # fmt: skip
    assert found == sums.to_dict()
