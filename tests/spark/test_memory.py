"""Nobody holds everybody: neither the driver nor an executor takes more for more users."""

import pytest
from tests.spark.drivers import driver

from reidrisk.engines.spark.engine import SMALL

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

USERS = 270_000
"""So many rows take more than 4 MiB: they are on the executors."""

MIB = 1 << 20

MEASURE = """
    import resource
    from reidrisk import data
    from reidrisk.attacks import Hamming
    from reidrisk.releases import TopicsApi
    from reidrisk.study import Study
    from tests.spark.volume import volume

    release = TopicsApi()
    study = Study(release=release, attacks=(Hamming(),), targets=100)
    for users in (%d, %d, %d):
        study.run(data.synthetic_topics(users), engine=SparkEngine(spark))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10, volume(spark), flush=True)
"""


def test_neither_the_driver_nor_what_comes_back_grows_with_users(cluster):
    """The first run pays for what is loaded and compiled; executors have the least limit we name.

    All known rows would be 16 bytes a user: 17 MB more at the third run.
    """
    lines = driver(
        cluster.address,
        MEASURE % (USERS, USERS, 5 * USERS),
        settings={"spark.executor.pyspark.memory": "1536m"},
    ).lines()
    memory, back = zip(*(map(int, line.split()) for line in lines), strict=True)
    assert USERS * 16 > SMALL
    assert memory[2] - memory[1] < 10 * MIB
    assert back[2] - back[1] < 2 * (back[1] - back[0])
