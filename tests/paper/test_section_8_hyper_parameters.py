"""Section 8.4, table of hyper-parameters: the two networks of the paper, never trained here."""

import pytest

from reidrisk.information.sequence_model import MODELS
from reidrisk.learning.models import SHAPES

PUBLISHED = {  # Transformer, Transformer-LSTM
    "decoder": ("transformer", "lstm"),
    "dropout": (0.1, 0.1),  # of attention and of all else
    "width": (1_024, 1_024),  # attention, embedding, hidden dimension of the decoder
    "hidden": (4_096, 4_096),
    "heads": (8, 8),
    "encoder_layers": (6, 6),
    "decoder_layers": (6, 8),
    "copies": (False, False),
}
NAMES = ("paper-transformer", "paper-hybrid")
TOPICS, PIECES_OF_WORDS = 349, 32_000


@pytest.mark.parametrize("parameter", PUBLISHED)
def test_every_published_hyper_parameter_is_ours(parameter):
    assert tuple(getattr(SHAPES[name], parameter) for name in NAMES) == PUBLISHED[parameter]


def test_the_batch_is_the_published_one():
    assert {MODELS[name].training.batch for name in NAMES} == {1_536}


def parameters(name, tokens):
    import torch

    from reidrisk.learning.translators import Translator

    with torch.device("meta"):
        network = Translator(SHAPES[name], tokens, slots=8)
    assert all(one.is_meta for one in network.parameters())
    return sum(one.numel() for one in network.parameters())


@pytest.mark.torch
def test_the_hybrid_has_about_300_million_parameters():
    """With the tables of symbols that translation has; the paper does not say which it counts."""
    assert parameters("paper-hybrid", PIECES_OF_WORDS) == pytest.approx(300e6, rel=0.05)


@pytest.mark.torch
def test_for_topics_the_tables_are_small_and_all_else_is_the_same():
    encoder = 6 * (4 * 1_024**2 + 2 * 1_024 * 4_096)
    lstm = 8 * 4 * 1_024 * (2 * 1_024 + 1_024)
    attention = 4 * 1_024**2
    read, written = 2 * 1_024, 2 * 1_024
    for tokens in (TOPICS, PIECES_OF_WORDS):
        counted = encoder + lstm + attention + (read + written) * tokens
        assert parameters("paper-hybrid", tokens) == pytest.approx(counted, rel=0.002)


@pytest.mark.torch
def test_the_transformer_is_as_large_as_its_layers():
    encoder = 6 * (4 * 1_024**2 + 2 * 1_024 * 4_096)
    decoder = 6 * (8 * 1_024**2 + 2 * 1_024 * 4_096)
    counted = encoder + decoder + 3 * 1_024 * TOPICS
    assert parameters("paper-transformer", TOPICS) == pytest.approx(counted, rel=0.002)
