"""What the package offers, and what it costs to import."""

import subprocess
import sys
import time

import pytest

import reidrisk
from reidrisk import estimates, information, theory

GUESTS = ("torch", "pyspark", "pandas", "matplotlib", "altair", "scipy.stats", "sphinx")


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("module", [reidrisk, theory, estimates, information])
def test_every_public_name_exists_and_the_list_is_sorted(module):
    assert sorted(module.__all__) == module.__all__
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))


def test_the_contract_is_kept():
    promised = {
        "random_user_optimum", "optimal_rule", "rule_accuracy", "upper_matching",
        "matching_optimum", "upper_from_local_dp", "upper_from_k_anonymity",
        "upper_from_mutual_information", "local_dp_epsilon", "anonymity", "bayes_vulnerability",
        "g_vulnerability", "multiplicative_leakage", "additive_leakage",
    }  # fmt: skip
    assert promised <= set(theory.__all__)
    assert reidrisk.RepresentationMatrix is theory.RepresentationMatrix


def test_every_public_name_of_theory_explains_itself():
    named = [getattr(theory, name) for name in theory.__all__]
    assert all(item.__doc__ and item.__doc__[0].isupper() for item in named)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="riks"):
        _ = reidrisk.riks


def test_importing_loads_no_guest_and_no_compiler():
    loaded = fresh("import sys, reidrisk; print(*sys.modules)")
    assert not {"numba", "scipy", *GUESTS} & set(loaded)


def test_using_everything_loads_no_guest():
    names = [f"reidrisk.{name}" for name in reidrisk.__all__]
    loaded = fresh(f"import sys, reidrisk; {', '.join(names)}; print(*sys.modules)")
    assert "reidrisk.theory" in loaded
    assert not set(GUESTS) & set(loaded)


def test_importing_takes_well_under_a_second():
    """Best of three, less the start of the interpreter itself."""

    def seconds(code):
        start = time.perf_counter()
        fresh(code)
        return time.perf_counter() - start

    bare = min(seconds("pass") for _ in range(3))
    assert min(seconds("import reidrisk") for _ in range(3)) - bare < 0.5


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert reidrisk.__version__ == version("reidrisk")
