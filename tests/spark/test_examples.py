"""Examples of docstrings that need a session."""

import pytest
from tests.packaging.test_docstrings import run_examples, with_examples

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("module", list(with_examples("pyspark")))
def test_examples_on_a_cluster_run(module, spark):
    run_examples(module, "pyspark", spark=spark)
