"""One cluster, and one session on it, for all tests on Spark."""

from pathlib import Path

import pytest
from tests.spark.java import missing
from tests.spark.standalone import SETTINGS, standalone

RUNNING = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Show the ends of the cluster's logs with what failed on it."""
    report = yield
    if report.failed and RUNNING in item.config.stash:
        report.sections.append(("Logs of the cluster", item.config.stash[RUNNING].tail()))
    return report


@pytest.fixture(scope="session")
def cluster(tmp_path_factory, pytestconfig):
    """A master and two workers as processes of their own."""
    pytest.importorskip("pyspark")
    if told := missing():
        pytest.skip(told)
    if not Path("/proc").is_dir():
        pytest.skip("processes of a cluster are found in /proc, and there is none")
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        pytestconfig.stash[RUNNING] = running
        yield running


@pytest.fixture(scope="session")
def spark(cluster):
    """A session on the cluster, with two executors of one core each."""
    from reidrisk.engines.spark.session import session

    running = session(cluster.address, settings=SETTINGS)
    yield running
    running.stop()
