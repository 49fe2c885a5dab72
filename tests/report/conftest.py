"""The page of the sample, made once."""

import pytest
from tests.report.sample import sample

from reidrisk import report


@pytest.fixture(scope="session")
def report_page(tmp_path_factory):
    return report.html(sample(), tmp_path_factory.mktemp("report") / "report.html")
