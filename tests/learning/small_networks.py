"""A network and a task so small that they are trained in a moment; torch must be installed."""

from reidrisk.learning.hardware import repeatable, torch
from reidrisk.learning.progress import Training
from reidrisk.learning.training import train

USERS, TOKENS = 60, 5
SHORT = Training(steps=40, batch=16, rate=0.05, warm_up=4, every=5, seed=3)


class Small(torch.nn.Module):
    """From a token to the next one; it drops units, so chance of torch's own matters."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(TOKENS, 8)
        self.norm = torch.nn.LayerNorm(8)
        self.drop = torch.nn.Dropout(0.2)
        self.out = torch.nn.Linear(8, TOKENS)

    def forward(self, tokens):
        return self.out(self.drop(self.norm(self.embedding(tokens))))


class Task:
    """Tokens of users, each followed by the next one; some wrongly, for there to be a limit."""

    def __init__(self, wrong=0.2):
        with repeatable(5):
            self.given = torch.randint(TOKENS, (2 * USERS,))
            noise = torch.randint(TOKENS, (2 * USERS,))
            noisy = torch.rand(2 * USERS) < wrong
            self.wanted = torch.where(noisy, noise, (self.given + 1) % TOKENS)
            self.network = Small()
        self.calls = 0

    def _loss(self, users):
        logits = self.network(self.given[users])
        return torch.nn.functional.cross_entropy(logits, self.wanted[users])

    def loss(self, users):
        self.calls += 1
        return self._loss(users)

    def held_out(self):
        return float(self._loss(torch.arange(USERS, 2 * USERS)).detach())

    def train(self, how=SHORT, progress=None, **where):
        return train(self.network, self.loss, self.held_out, USERS, how, progress, **where)

    def weights(self):
        return {name: one.clone() for name, one in self.network.state_dict().items()}


def assert_equal_weights(one, other):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def without_seconds(trained):
    """A training without what differs from run to run."""

    def plain(look):
        return look.step, look.training, look.held_out

    return [*map(plain, trained.looks)], plain(trained.best), trained.stopped
