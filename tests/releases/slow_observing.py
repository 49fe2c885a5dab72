"""What sites see of people, slowly and with everybody at hand: the definition of `observe`."""

import numpy as np

from reidrisk.core.observations import Observations, smallest_type
from reidrisk.core.randomness import uniforms
from reidrisk.releases import prepared
from reidrisk.releases.protocol import alphabet


def slow_observe(release, people, *, targets=None, sites=2, strangers=0.0, seed, secrets=False):
    """As `observe`, or `reveal` if `secrets`: all people are shown at once."""
    shows, users, ids = prepared(release, people), people.users, people.ids
    strange = _draws("observe/strangers", ids, seed) < strangers
    order = sorted(range(users), key=lambda row: (_draws("topics/targets", ids, seed)[row], row))
    known = np.flatnonzero(~strange)
    met = [row for row in order if not strange[row]][:targets]
    others = [row for row in order if strange[row]][:targets]

    def show(site):
        return np.asarray(shows.show(people, 0, users, site=site, seed=seed))

    together = getattr(shows, "together", 1)
    if secrets:
        rows = shows.secrets(people, 0, users, seed=seed)
    else:
        seen = [_spread(show(site), together) for site in (1, *range(3, sites + 1))]
        rows = np.concatenate(seen, axis=2)
        rows = rows[:, :, 0] if rows.shape[2] == 1 else rows
    tokens, hidden = alphabet(shows, people), show(2)
    return Observations(
        rows[known].astype(smallest_type(tokens)),
        hidden[met],
        np.searchsorted(known, met),
        tokens=tokens,
        strangers=hidden[others] if others else None,
    )


def _draws(purpose, ids, seed):
    return uniforms(seed=seed, purpose=purpose, users=ids, count=1)[:, 0]


def _spread(seen, together):
    """In each of the slots that come at once, all tokens that came: users x slots x together."""
    wide = np.empty((*seen.shape, together), seen.dtype)
    for slot in range(seen.shape[1]):
        first = slot - slot % together
        wide[:, slot] = seen[:, first : first + together]
    return wide
