"""A model that learns nothing, in no time: what studies and commands make of one that does."""

import numpy as np

from reidrisk.core.files import ONLY_ME
from reidrisk.information.records import Independence, Mean
from reidrisk.information.sequence_model import Curve, SequenceBits
from reidrisk.learning.progress import Look

LOOKS = tuple(Look(100 * step, 0.1 * step, 7 - 0.5 * step, 7.1 - 0.5 * step) for step in (1, 2, 3))


class Learner:
    """Stands for `learn_information` and `check_independence`.

    Attributes:
        calls: What it was asked for: model, users, slots, seed, folder.
        stop: After how many looks somebody interrupts it; None if nobody does.
    """

    def __init__(self):
        self.calls, self.stop, self.begun_with = [], None, []

    def learn(self, seen, model="laptop", *, how=None, seed=0, folder=None, progress=None):
        users = len(seen.truth)
        self.calls.append((model, users, seen.slots, seed, folder))
        for figure in ("entropy", "conditional_entropy"):
            for place, look in enumerate(LOOKS):
                if folder is not None:
                    self._keep(folder, figure)
                if progress is not None:
                    progress(figure, look, 3.0 - place)
                if self.stop == place:
                    raise KeyboardInterrupt
        curves = tuple(Curve(name, LOOKS) for name in ("entropy", "conditional_entropy"))
        tested = users // 5
        return SequenceBits(
            model, 1234, seen.slots, users - 2 * tested, tested, tested,
            Mean(6.5, 0.02), Mean(5.4, 0.03), Mean(1.1, 0.02), curves,
            np.full(tested, 1.1 * seen.slots),
        )  # fmt: skip

    def check(self, seen, model="laptop", **_how):
        means = (Mean(2.5, 0.05), Mean(2.2, 0.05), Mean(-0.3, 0.01))
        return Independence(seen.slots, *means, model, len(seen.truth))

    def _keep(self, folder, figure):
        place = folder / figure
        place.mkdir(parents=True, exist_ok=True)
        file = place / "model.safetensors"
        self.begun_with.append(file.exists())
        file.write_bytes(b"weights")
        file.chmod(ONLY_ME)


def stand_in(monkeypatch):
    """Let it take the place of all models, whatever is installed."""
    learner = Learner()
    monkeypatch.setattr("reidrisk.study.analyses.information.check_guest", lambda *_: None)
    monkeypatch.setattr("reidrisk.information.sequence_model.learn_information", learner.learn)
    monkeypatch.setattr("reidrisk.information.independence.check_independence", learner.check)
    monkeypatch.setattr("reidrisk.study.run_store.version", lambda _: "1.0")
    monkeypatch.setattr("reidrisk.study.run_store.find_spec", lambda _: "here")
    return learner
