"""The examples of docstrings run."""

import doctest

import pytest

from reidrisk.information import fit, sequences
from reidrisk.people import population
from reidrisk.releases import TopicsApi
from reidrisk.releases import popularity as function


@pytest.mark.parametrize("module", [fit, population, sequences])
def test_examples_of_modules(module):
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


@pytest.mark.parametrize("item", [TopicsApi, function])
def test_examples_of_releases(item):
    found = [test for test in doctest.DocTestFinder().find(item) if test.examples]
    assert found
    for test in found:
        assert not doctest.DocTestRunner().run(test).failed
