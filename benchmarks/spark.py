"""A cluster of this machine against its two cores: ratios, equal answers, and what else it takes.

A standalone master and two workers, an executor of one core each, against `LocalEngine` with two
threads, from the same shard files, warm. Start-up is told apart: the JVM and its executors, the
first tasks, which import and look for compiled kernels, and the first search, which compiles some.
The driver is a process of its own for each number of users, so that its peak memory is its own.
"""

import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from tests.spark.standalone import marked, standalone

from benchmarks import scale
from benchmarks.tools import figures, seconds, spent, table
from reidrisk.engines import LocalEngine

USERS = (1_000_000, 10_000_000)
REPEAT = 2
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.cores": "1",
    "spark.executor.memory": "1g",
    "spark.cores.max": "2",
}
MIB = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")


def drive(folder, address, mark, answers):
    """What the driver does: start, search, and tell what it took, as JSON."""
    from reidrisk.engines.spark import SparkEngine
    from reidrisk.engines.spark.session import session

    told, begin = {}, time.perf_counter()

    def lap(name):
        nonlocal begin
        told[name], begin = time.perf_counter() - begin, time.perf_counter()

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    spark = session(address, settings=SETTINGS)
    lap("session, and a look at the executors")
    try:
        seen = scale.seen_in(folder)
        lap("looking at the files")
        scores = scale.hamming(seen)
        lap("weights")
        asked = scale.searches(SparkEngine(spark), seen, scores, scale.type_aware())
        found = {}
        for name, search in asked.items():
            begin = time.perf_counter()
            search()
            lap(f"first: {name}")
            before, worked = moved(spark), processor(mark)
            told[name], found[name] = seconds(search, repeat=REPEAT)
            told[f"processor: {name}"] = (processor(mark) - worked) / (REPEAT + 1)
            after = moved(spark)
            for what, size in after.items():
                told[f"{what}: {name}"] = (size - before[what]) // (REPEAT + 1)
        told["driver"] = peak("self")
        told["driver's JVM"] = peak(spark.sparkContext._gateway.proc.pid)  # noqa: SLF001
        told["executors"] = memory(mark)
    finally:
        spark.stop()
    arrays = [one for answer in found.values() for one in scale.plain(answer)]
    np.savez(answers, *arrays)
    print(json.dumps(told))


def moved(spark):
    """Bytes that tasks sent to each other and to the driver so far."""
    # Spark keeps count of stages for its pages, also where nobody looks at them.
    context = spark.sparkContext
    none = context._gateway.new_array(context._jvm.double, 0)  # noqa: SLF001
    stages = context._jsc.sc().statusStore().stageList(None, False, False, none, None)  # noqa: FBT003, SLF001
    stages = [stages.apply(place) for place in range(stages.size())]
    return {
        "to the driver": sum(one.resultSize() for one in stages),
        "between executors": sum(one.shuffleWriteBytes() for one in stages),
    }


def processor(mark):
    """Processor seconds of all that runs on the cluster."""
    total = 0
    for process in marked(mark):
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def peak(process):
    """The most memory that a process had."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) << 10


def memory(mark):
    """The most memory of each executor: of its JVM, and of its Python workers together."""
    found = {}
    for process in marked(mark):
        with suppress(OSError):
            command = Path(f"/proc/{process}/cmdline").read_bytes()
            kind = "JVM" if b"ExecutorBackend" in command else "Python"
            if kind == "JVM" or b"pyspark" in command:
                found.setdefault(kind, []).append(peak(process))
    return {kind: max(sizes) for kind, sizes in found.items()}


def local(folder):
    """Two threads of this machine: seconds, answers, and processor seconds."""
    seen = scale.seen_in(folder)
    asked = scale.searches(LocalEngine(threads=2), seen, scale.hamming(seen), scale.type_aware())
    found = {}
    for name, search in asked.items():
        begin = time.process_time()
        took, answer = seconds(search, repeat=REPEAT)
        found[name] = took, answer, (time.process_time() - begin) / (REPEAT + 1)
    return found


def main(users=USERS):
    ratios, notes = [], []
    with tempfile.TemporaryDirectory() as place, standalone(Path(place)) as cluster:
        for count in users:
            folder, answers = Path(place) / str(count), Path(place) / "answers.npz"
            scale.released(folder, count)
            told = json.loads(
                spent("-m", "benchmarks.spark", folder, cluster.address, cluster.mark, answers).said
            )
            here = local(folder)
            with np.load(answers) as found:
                theirs = [one for _, answer, _ in here.values() for one in scale.plain(answer)]
                for one, other in zip(found.values(), theirs, strict=True):
                    np.testing.assert_array_equal(one, other)
            limit = 1.5 if count == max(users) else 15
            ratios += [
                (f"{count:,} users, {name}", told[name], "local, 2 threads", took, limit)
                for name, (took, _, _) in here.items()
            ]
            worked = {f"processor, local: {name}": one[2] for name, one in here.items()}
            notes.append(told | worked)
    table(f"Spark, 2 executors of 1 core: {scale.TARGETS:,} targets", ratios)
    headings = ("what", *(f"{count:,} users" for count in users))
    figures("what else it takes", headings, [(name, *(said(one.get(name)) for one in notes))
                                              for name in notes[0]])  # fmt: skip


def said(value):
    """A figure of a driver: bytes are whole numbers."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{kind} {said(size)}" for kind, size in value.items())
    return f"{value / MIB:,.2f} MiB" if isinstance(value, int) else f"{value:.2f} s"


if __name__ == "__main__":
    drive(Path(sys.argv[1]), *sys.argv[2:])
