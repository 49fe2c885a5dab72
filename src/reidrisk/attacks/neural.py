"""Attack: a chain of hidden types learned from a panel of other people.

What is learned is a chain of classes: `reidrisk.learning.type_chain`, a network of a few tables
that a laptop trains in seconds. It needs the extra `torch`. Decision 26 says why it is this one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from reidrisk.attacks.card import PAPER
from reidrisk.attacks.protocol import ONE_ROW, View, panel_of
from reidrisk.core.checks import whole_number
from reidrisk.core.observations import Observations
from reidrisk.errors import InvalidInput
from reidrisk.learning.models import CHAIN_TRAINING, chain
from reidrisk.learning.pairs import pairs_of
from reidrisk.learning.progress import Training
from reidrisk.scores import ShortlistedChances, TypeChain, TypeMixture
from reidrisk.scores.shortlisted import KEEP_BEST

if TYPE_CHECKING:
    from reidrisk.learning.sequence_training import TrainedNetwork
    from reidrisk.learning.type_chain import Tables

FEW = 5_000
"""Among up to this many users everyone is rated; among more, a shortlist."""


@dataclass(frozen=True, eq=False)
class Neural:
    """Score a known row by the chance that its user shows the anonymous one, with learned chances.

    In each slot a user is of one of some classes, keeps it for the next slot or draws another; the
    class tells what the known site shows and whether the other shows the same. All chances are
    learned by gradients from a panel: no release needs to be known, nor that there are types.

    To rate everyone so takes long. So among more than `FEW` users the best rows are listed by what
    each slot says on its own, and rated again: `reidrisk.scores.Shortlisted`. How sure the attacker
    is counts everyone.

    Args:
        panel: Other users, of whom both sides and who is who are known; that of the view, if None.
        model: A file with what was learned, instead of a panel: `learn` writes it, and so does
            `learn_information` with the model `laptop`. The people it was learned from must be
            others than those attacked, which no file can show: else it is tested on its lesson.
        labels: Names of the tokens of the rows at hand, such as `labels` of two tables: a model
            that was written with others is refused.
        begin: Where learning begins: "types", found by EM; or "scratch", everyone's chances and
            noise.
        classes: How many; fewer, if the panel is small.
        keep_best: How many rows to list; None always rates everyone.
        training: Steps, batches, seed; as is best on a laptop, if None.

    Example:
        >>> attack = rr.attacks.Neural(begin="scratch", classes=8)
        >>> attack.needs, attack.likelihood
        (('panel',), True)
    """

    name: ClassVar[str] = "neural"
    knows: ClassVar[str] = (
        "both sides of other people, and learns from them what two sites show of the same person"
    )
    assumes: ClassVar[str] = (
        "Best if people belong to classes of interests that they keep or draw anew from slot to "
        "slot, and the panel is large enough to learn them."
    )
    limits: ClassVar[str] = (
        "Rates people who differ from the panel by chances that are not theirs, and then may not "
        f"be right as often as it claims. Among more than {FEW:,} known users only a shortlist is "
        "rated in full."
    )
    cost: ClassVar[str] = (
        "Gradients learn tables of chances from the panel: needs the extra torch. Shortlists "
        "keep the search small."
    )
    source: ClassVar[str] = f"In place of the network of {PAPER}, section 8.2.3; decision 26."
    likelihood: ClassVar[bool] = True
    uses: ClassVar[str] = ONE_ROW
    trains: ClassVar[bool] = True

    panel: Observations | None = None
    model: Path | str | None = field(default=None, kw_only=True)
    labels: Sequence[object] | None = field(default=None, kw_only=True, repr=False)
    begin: str = field(default="types", kw_only=True)
    classes: int = field(default=64, kw_only=True)
    keep_best: int | None = field(default=KEEP_BEST, kw_only=True)
    training: Training | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        whole_number("classes", self.classes, least=1)
        if self.begin not in CHAIN_TRAINING:
            raise InvalidInput(
                f"begin is one of {', '.join(CHAIN_TRAINING)}; got {self.begin!r}",
                code="unknown-choice",
            )
        if self.keep_best is not None:
            whole_number("keep_best", self.keep_best, least=1)
        if self.panel is not None and self.model is not None:
            raise InvalidInput(
                "a panel to learn from and a model that was learned: give one",
                code="conflicting-arguments",
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """A panel, unless it was given one or a model."""
        return ("panel",) if self.panel is None and self.model is None else ()

    def fit(self, view: View) -> ShortlistedChances | TypeChain | TypeMixture:
        """The score, from the panel or the file."""
        tables = self.learn(view).network.tables() if self.model is None else self._read(view)
        score = TypeChain(*tables)
        # A chain in which nobody changes class is a mixture, and is not listed but rated in full.
        if not score.changes:
            return score.for_good()
        if self.keep_best is None or view.known.users <= FEW:
            return score
        return ShortlistedChances(score, score.by_token(), self.keep_best)

    def learn(self, view: View) -> "TrainedNetwork":
        """What is learned from the panel: `write` keeps it in a file, for `model`."""
        pairs = pairs_of(panel_of(self, view), view.known, self.name)
        from reidrisk.learning.sequence_training import (  # noqa: PLC0415  torch is a guest
            TrainingTask,
        )

        recipe = chain(self.begin, self.classes)
        how = recipe.training if self.training is None else self.training
        task = TrainingTask(
            *pairs.split(how.seed), view.tokens, conditional=True, how=how, seed=how.seed
        )
        return task.learn(recipe)

    def _read(self, view: View) -> "Tables":
        """The chances of what was learned before."""
        from reidrisk.learning.sequence_training import read_network  # noqa: PLC0415  torch is a guest

        assert self.model is not None
        network, about = read_network(
            Path(self.model), chain(), tokens=view.tokens, labels=self.labels
        )
        if not about.configuration["conditional"]:
            raise InvalidInput(
                f"{self.model}: has learned what one site shows, and not what it shows given the "
                "other; name the other model of the same folder",
                code="wrong-model",
            )
        tables: Tables = network.tables()
        return tables
