"""Vectors: everything about the best match of each target, beside faiss and a plain product.

A million known vectors and 10,000 targets of 64, 256 and 768 numbers, whole numbers of 8 bits:
processor seconds of one thread. faiss finds the best by single precision; we find best, second
best, ties, true score and rank, exactly. With torch, products are made in bfloat16 and what they
leave open is scored again. `SHARE=0.1` takes a tenth of the known vectors and of the targets.
`python -m benchmarks.vectors disk` searches ten million vectors on disk.

faiss is not one of our libraries, so this runs in the environment of peers; torch is measured where
it is installed there: `.venv-peers/bin/python -m pip install torch`.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.tools import figures, spent, table

USERS, TARGETS, DIMENSIONS = 1_000_000, 10_000, (64, 256, 768)
GOALS = {"single precision": (1.3, 1.5, 1.5), "bfloat16": (1.3, 1.0, 1.0)}
CHECKED = 20
"""Targets that are compared with products in whole numbers of 64 bits."""

BLOCK = 4096
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
ON_DISK, FEW = 10_000_000, 1_000


def main():
    if importlib.util.find_spec("faiss") is None or ONE_THREAD.items() - os.environ.items():
        in_environment_of_peers()
        return
    share = float(os.environ.get("SHARE", "1"))
    users, targets, rows = int(USERS * share), int(TARGETS * share), []
    for place, dimensions in enumerate(DIMENSIONS):
        rows += beside_faiss(users, targets, dimensions, place)
    table(f"vectors: {users:,} known, {targets:,} targets, processor seconds of a thread", rows)


def in_environment_of_peers():
    from benchmarks.peers.environment import prepared, python

    if "faiss-cpu" in (missing := prepared()):
        sys.exit(f"faiss-cpu cannot be installed: {missing['faiss-cpu']}")
    subprocess.run(  # noqa: S603  our own
        [python(), "-m", "benchmarks", "vectors"], check=True, env={**os.environ, **ONE_THREAD}
    )


def beside_faiss(users, targets, dimensions, place):
    """Rows of a table: each precision that is here, beside faiss and beside the product alone."""
    import faiss

    from reidrisk import LocalEngine, Observations, VectorRows
    from reidrisk.core.matrix_products import Short, Single, one_blas_thread
    from reidrisk.engines.strategies import products
    from reidrisk.scores import InnerProduct

    known, shown, truth = people(users, targets, dimensions)
    seen = Observations(VectorRows(known), VectorRows(shown), truth)
    engine, score = LocalEngine(threads=1), InnerProduct.of_vectors()
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(dimensions)
    for start in range(0, users, BLOCK):
        index.add(known[start : start + BLOCK].astype(np.float32))
    asked, rows = shown.astype(np.float32), []
    with one_blas_thread():
        index.search(asked[:BLOCK], 1)  # its threads and ours start slowly
        theirs, _ = processor(lambda: index.search(asked, 1))
        plain, _ = processor(lambda: product(known, asked))
    precisions = {"single precision": Single}
    if importlib.util.find_spec("torch") is not None:
        precisions["bfloat16"] = Short
    for name, precision in precisions.items():
        products.best_precision = lambda _, precision=precision: precision()
        few = seen.shard(0, BLOCK).only(slice(2))
        engine.search(few, score, list_best=1, ranks=None, second=True)  # compiles
        ours, found = processor(
            lambda: engine.search(seen, score, list_best=1, ranks=None, second=True)
        )
        check(found, known, shown, truth)
        what = f"{dimensions} numbers, {name}"
        rows += [
            (what, ours, "faiss, the best only", theirs, GOALS[name][place]),
            (what, ours, "the product alone", plain, 10),
        ]
    return rows


def people(users, targets, dimensions):
    """Unit vectors, and those of some with noise, rounded to 8 bits."""
    random = np.random.default_rng(1)
    known = np.empty((users, dimensions), np.int8)
    truth = np.sort(random.choice(users, targets, replace=False))
    shown = np.empty((targets, dimensions), np.int8)
    steps = 127 / 6 * dimensions**0.5  # entries of unit vectors are seldom above six deviations

    def rounded(vectors):
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.clip(np.rint(units * steps), -127, 127).astype(np.int8)

    for start in range(0, users, BLOCK):
        some = random.standard_normal((min(BLOCK, users - start), dimensions), np.float32)
        known[start : start + BLOCK] = rounded(some)
        low, high = np.searchsorted(truth, [start, start + len(some)])
        again = some[truth[low:high] - start]
        shown[low:high] = rounded(again + 2 * random.standard_normal(again.shape, np.float32))
    return known, shown, truth


def product(known, asked):
    """The product in single precision, block by block, and nothing else."""
    room = np.empty((len(asked), BLOCK), np.float32)
    for start in range(0, len(known), BLOCK):
        some = known[start : start + BLOCK].astype(np.float32)
        np.matmul(asked, some.T, out=room[:, : len(some)])


def check(found, known, shown, truth):
    """Compare some targets with whole numbers of 64 bits."""
    for target in np.linspace(0, len(truth) - 1, CHECKED).astype(int):
        scores = np.zeros(len(known), np.int64)
        for start in range(0, len(known), 1 << 16):
            some = known[start : start + (1 << 16)].astype(np.int64)
            scores[start : start + len(some)] = some @ shown[target].astype(np.int64)
        true, best = scores[truth[target]], scores.max()
        said = (
            found.best[target], found.ties[target], found.true_score[target], found.above[target],
            found.level[target], found.second[target], found.best_rows[target, 0],
        )  # fmt: skip
        assert said == (
            best, (scores == best).sum(), true, (scores > true).sum(), (scores == true).sum() - 1,
            np.partition(scores, -2)[-2], scores.argmax(),
        )  # fmt: skip


def processor(function):
    """Processor seconds of a call, and what it returns."""
    began = time.process_time()
    answer = function()
    return time.process_time() - began, answer


def from_disk():
    """Ten million vectors of 64 numbers, mapped and in Parquet: seconds and memory at the peak."""
    from reidrisk import VectorRows
    from reidrisk.data import write_vector_rows

    with tempfile.TemporaryDirectory() as folder:
        mapped, stored = Path(folder) / "known.npy", Path(folder) / "known.parquet"
        known = np.lib.format.open_memmap(mapped, "w+", np.int8, (ON_DISK, 64))
        random = np.random.default_rng(1)
        for start in range(0, ON_DISK, 1 << 16):
            some = known[start : start + (1 << 16)]
            some[:] = random.integers(-60, 61, some.shape)
        known.flush()
        write_vector_rows(VectorRows(known), stored)
        del known
        rows = []
        for file in (mapped, stored):
            used = spent("-m", "benchmarks.vectors", file)
            size = f"{file.stat().st_size / 2**20:.0f} MiB"
            memory = f"{used.peak / 2**30:.2f} GiB"
            rows.append((file.name, size, f"{used.processor:.1f}", memory, used.said.strip()))
    title = f"{ON_DISK:,} known vectors of 64 numbers on disk, {FEW:,} targets, 2 threads"
    figures(title, ("file", "size", "processor seconds", "memory at the peak", "found"), rows)


def search_in(file):
    """Search the vectors of a file; a program of its own, whose memory is looked at."""
    from reidrisk import LocalEngine, Observations, ParquetVectors, VectorRows
    from reidrisk.scores import InnerProduct

    rows = (
        VectorRows(np.load(file, mmap_mode="r")) if file.suffix == ".npy" else ParquetVectors(file)
    )
    truth = np.arange(0, rows.users, rows.users // FEW)[:FEW]
    seen = Observations(rows, rows.select(truth), truth)
    found = LocalEngine(threads=2).search(seen, InnerProduct.of_vectors(), ranks=None)
    print(f"{found.credit.mean():.3f} of targets")


if __name__ == "__main__":
    if sys.argv[1:] == ["disk"]:
        from_disk()
    else:
        search_in(Path(sys.argv[1]))
