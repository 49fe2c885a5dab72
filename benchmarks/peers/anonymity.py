"""Who is alone in a table: the smallest group, the share of unique rows, the best guess.

Four columns of text. `singling` also says how large all groups are and what each column gives away.
"""

import numpy as np

from benchmarks.comparison import Agreement, Comparison, close, cost, equal
from reidrisk.risk.tables._singling import singling

PEERS = ("pycanon", "bvmlib")
COLUMNS = ("age", "zip", "sex", "job")
ROWS, QUICK_ROWS = 50_000, 1_000


def people(rows):
    random = np.random.default_rng(1)
    return {
        "age": random.integers(18, 90, rows).astype(str),
        "zip": (10_000 + random.zipf(1.3, rows) % 2_000).astype(str),
        "sex": random.choice(["m", "f"], rows),
        "job": random.integers(0, 50, rows).astype(str),
    }


def compare(peer, *, quick):
    import pandas as pd
    import pyarrow as pa

    rows = QUICK_ROWS if quick else ROWS
    content, few = people(rows), COLUMNS[2:]
    frame, table = pd.DataFrame(content), pa.table(content)
    answers, how = ANSWERS[peer]
    for columns in (few, COLUMNS):
        our_cost, found = cost(lambda names=columns: singling(table, columns=list(names)))
        their_cost, answer = cost(lambda names=columns: answers(frame, list(names)))
        yield Comparison(
            "alone in a table", f"{rows:,} rows, {len(columns)} columns", "singling", peer, how,
            our_cost, their_cost, agreement(peer, found, answer),
        )  # fmt: skip


def agreement(peer, found, answer):
    if peer == "pycanon":
        return equal([[found.smallest]], [[answer]], f"k = {answer}")
    unique, best, prior = answer
    ours = (found.share_unique.value, found.optimum.value, 1 / found.people)
    alike = close(ours, (unique, best, prior), "share of unique rows, best guess, prior")
    return Agreement(alike.holds, f"{alike.words}; best guess {best:.2%}")


def smallest_group(frame, columns):
    from pycanon.anonymity import k_anonymity

    return k_anonymity(frame, columns)


def vulnerability(frame, columns):
    from bvmlib import BVM

    model = BVM(frame)
    model.qids(columns)
    found = model.assess()
    chances = found["re_id"].iloc[0]
    return found["dCR"], chances["Posterior"], chances["Prior"]


ANSWERS = {
    "pycanon": (smallest_group, "anonymity.k_anonymity"),
    "bvmlib": (vulnerability, "BVM.assess"),
}
