"""What follows when slots are taken one by one and together, in words."""

import pytest

from reidrisk.information.independence import Independence
from reidrisk.information.sequences import Mean


def compared(one_by_one, together, error=0.03, slots=8):
    return Independence(
        slots, Mean(one_by_one, error), Mean(together, error), model="laptop", users=1_000
    )


def test_more_together_means_that_adding_up_misses_some():
    assert compared(7.4, 8.8).sentence == (
        "Taken one by one, 8 slots share 7.40 bits [7.34, 7.46]; taken together 8.80 bits "
        "[8.74, 8.86]: slots are not independent; attacks that add up slots miss about 16 % of "
        "what is shared."
    )


def test_less_together_means_that_slots_repeat_each_other():
    sentence = compared(8.0, 6.0).sentence
    assert "repeat each other" in sentence
    assert "count about 25 % of their bits more than once" in sentence


@pytest.mark.parametrize("together", [7.35, 7.45])
def test_a_difference_within_the_errors_is_no_difference(together):
    sentence = compared(7.4, together).sentence
    assert "within the errors, as it would be if slots were independent" in sentence
    assert "less than 0.08 bits could not be told from none" in sentence


def test_nothing_shared_says_nothing_about_slots():
    assert "nothing can be said about slots" in compared(-0.02, 0.01).sentence


def test_one_slot_has_nothing_to_add_up():
    assert compared(0.9, 0.93, slots=1).sentence == (
        "There is one slot, so nothing adds up: it shares 0.93 bits [0.87, 0.99]."
    )


def test_a_small_share_is_not_said_to_be_none():
    assert "miss less than 1 % of what is shared" in compared(8.0, 8.02, error=0.001).sentence


def test_no_share_is_above_all():
    assert "miss about 100 %" in compared(-0.5, 8.0).sentence


def test_the_error_of_the_difference_is_of_both():
    assert compared(7.4, 8.8).difference.error == pytest.approx(0.03 * 2**0.5)
