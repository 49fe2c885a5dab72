"""Files with a true checksum that no training wrote: anybody can compute one."""

from dataclasses import replace

import numpy as np
import pytest
from tests.snapshots import refuses

from reidrisk.attacks import Neural, View
from reidrisk.core.observations import Observations
from reidrisk.learning.models import Shape, chain, translator
from reidrisk.learning.progress import Training

torch = pytest.importorskip("torch")

from reidrisk.learning.network_files import ModelInfo, write_model  # noqa: E402
from reidrisk.learning.pairs import Pairs  # noqa: E402
from reidrisk.learning.sequence_training import TrainingTask, read_network  # noqa: E402
from reidrisk.learning.translators import Translator  # noqa: E402
from reidrisk.learning.type_chain import TypeChainNetwork  # noqa: E402

pytestmark = pytest.mark.torch

TOKENS, SLOTS = 5, 3
ABOUT = ModelInfo("laptop", {"conditional": True}, TOKENS, None, SLOTS, 60, 0, 0, "")
SHAPE = Shape(width=8, heads=2, hidden=8, encoder_layers=1, decoder_layers=1)
TINY = translator("tiny", SHAPE, Training())
ROWS = np.random.default_rng(0).integers(0, TOKENS, (60, SLOTS))


class Weights:
    """What has weights, by any name and of any kind."""

    def __init__(self, weights):
        self.weights = weights

    def state_dict(self):
        return self.weights


def weights_of_a_chain(**other):
    """Those of a true one but for some; None for one that is missing."""
    weights = {**TypeChainNetwork(2, TOKENS + 1, conditional=True).state_dict(), **other}
    return {name: one for name, one in weights.items() if one is not None}


def written(path, weights, about=ABOUT):
    write_model(path, Weights(weights), about)
    return path


def refused(file, do, code):
    """Expect that a file is refused by name and in one line."""
    with refuses(code) as found:
        do()
    said = str(found.value)
    assert said.startswith(str(file))
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({}, "wrong-model"),
        (weights_of_a_chain(weights=None), "wrong-model"),
        (weights_of_a_chain(weights=torch.tensor(1.0)), "wrong-model"),
        (weights_of_a_chain(weights=torch.zeros(0)), "wrong-model"),
        (weights_of_a_chain(keep=torch.zeros(2, dtype=torch.complex64)), "wrong-model"),
        (weights_of_a_chain(**{"more\nlines": torch.zeros(1)}), "wrong-model"),
        (weights_of_a_chain(keep=torch.tensor([0.0, torch.nan])), "not-finite"),
        (weights_of_a_chain(shown=torch.full((TOKENS + 1, 2), torch.inf)), "not-finite"),
    ],
    ids=["none", "one missing", "no row", "no class", "complex", "name", "nan", "infinite"],
)
def test_weights_of_no_chain_are_refused_in_a_line(tmp_path, weights, code):
    file = written(tmp_path / "crafted.safetensors", weights)
    view = View.of(Observations(ROWS, ROWS, np.arange(len(ROWS)), tokens=TOKENS))
    refused(file, lambda: Neural(model=file).fit(view), code)


@pytest.mark.parametrize("configuration", [{}, {"conditional": 1}, {"conditional": "no"}])
def test_a_file_that_does_not_say_what_it_has_learned_is_refused(tmp_path, configuration):
    about = replace(ABOUT, configuration=configuration)
    file = written(tmp_path / "crafted.safetensors", weights_of_a_chain(), about)
    refused(file, lambda: read_network(file, chain()), "damaged-file")


@pytest.mark.parametrize("size", [{"slots": 10**11}, {"tokens": 10**11}, {"slots": 2**70}])
@pytest.mark.parametrize("recipe", [chain(), TINY], ids=["chain", "translator"])
def test_a_size_that_only_the_header_has_takes_no_memory(tmp_path, size, recipe):
    if recipe is TINY:
        weights = Translator(SHAPE, TOKENS, SLOTS).state_dict()
    else:
        weights = weights_of_a_chain()
    about = replace(ABOUT, kind=recipe.name, **size)
    file = written(tmp_path / "crafted.safetensors", weights, about)
    if recipe is not TINY and "slots" in size:
        read_network(file, recipe)  # a chain reads rows of any length
    else:
        refused(file, lambda: read_network(file, recipe), "wrong-model")


@pytest.mark.parametrize("looks", [None, 3, [3], [{"step": 1}], [[0, 0.0, 1.0, 1.0]], [{}]])
def test_a_kept_network_without_its_learning_curve_is_refused(tmp_path, looks):
    pairs, how = Pairs(ROWS, ROWS), Training(steps=2, every=1)
    task = TrainingTask(pairs, pairs, TOKENS, conditional=True, how=how, seed=0)
    trained = task.learn(chain(), tmp_path)
    (file,) = tmp_path.rglob("model.safetensors")
    configuration = {**trained.about.configuration, "looks": looks}
    write_model(file, trained.network, replace(trained.about, configuration=configuration))
    refused(file, lambda: task.learn(chain(), tmp_path), "damaged-file")
