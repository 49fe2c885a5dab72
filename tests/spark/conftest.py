"""One cluster, and one session on it, for all tests on Spark."""

import sys
from pathlib import Path

import pytest
from tests.spark.java import missing
from tests.spark.standalone import standalone

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
}

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
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master(cluster.address).appName("tests")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()
