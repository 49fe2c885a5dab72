"""What attackers claim, in the number words of the project."""

from dataclasses import replace

from reidrisk.attacks import WeightedHamming
from reidrisk.data import synthetic_topics
from reidrisk.estimates import Claims, Estimate
from reidrisk.releases import TopicsApi
from reidrisk.study import Study
from reidrisk.study.analyses.claims import whether_it_fits

RIGHT = Estimate(0.310512, 0.262345, 0.361234, 0.95, 400, "made up")
GAP = Estimate(-0.011861, -0.041902, 0.018258, 0.95, 400, "made up")


def test_a_model_that_fits_is_told_with_as_many_digits_as_were_measured():
    claims = Claims(claimed=0.298651, right=RIGHT, gap=GAP, fits=True, bins=())
    assert whether_it_fits(claims) == (
        "The attacker claims to be right in 29.9 % of cases and was right in 31 % (26 % to 37 %): "
        "the difference of -1 points (-5 to +2) may be chance, so its model fits."
    )
    worse = replace(claims, gap=replace(GAP, high=-0.001), fits=False)
    assert "(-4.2 to -0.1) is more than chance allows" in whether_it_fits(worse)


def test_the_assumption_of_a_model_has_no_raw_digits():
    """Regression: it said "29.8651% ... [-4.1902%, 1.8258%]" in the table of the spectrum."""
    api = TopicsApi()
    study = Study(
        release=api, attacks=(WeightedHamming(api),), models=(WeightedHamming(api),), targets=50
    )
    bounds = study.run(synthetic_topics(100, epochs=2)).bounds
    (text,) = [one.assumes for one in bounds if one.name.startswith("best within")]
    assert "claims to be right in" in text
    assert "% " not in text.replace(" % ", "")
    assert "[" not in text
