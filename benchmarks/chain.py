"""The chain of classes against the exact bits: what is missed, by processor time with one thread.

Each figure is on 20,000 users of the embedded population whom nothing was trained on, in bits per
slot, less the exact one of the same users: an excess, and its standard error.
"""

import math
import time
from dataclasses import replace

import numpy as np

from benchmarks.worlds import exact_bits
from reidrisk.information.sequences import SequenceChances, _site
from reidrisk.people.synthetic import synthetic_topics

NOISE, TESTED, HELD_OUT, BLOCK = 0.05, 20_000, 5_000, 2_048
MANY, MORE = 200_000, 1_600_000
SCRATCH = {60: 2_700, 120: 5_400}
"""Steps that take about so many seconds."""


def sites(users, slots, persistence, seed):
    people = synthetic_topics(users, epochs=slots, seed=seed, persistence=persistence)
    cuts = range(0, users, BLOCK)
    parts = [
        [_site(people, site, NOISE, start, min(start + BLOCK, users)) for start in cuts]
        for site in (1, 2)
    ]
    return people.interests, *(np.concatenate(part) for part in parts)


class World:
    """Rows to learn from, and others with their exact bits per slot."""

    def __init__(self, users, slots, persistence=1.0):
        self.name = f"r = {slots}" + ("" if persistence == 1 else f", kept with {persistence:g}")
        _, *self.rows = sites(users + HELD_OUT, slots, persistence, seed=5)
        interests, *self.tested = sites(TESTED, slots, persistence, seed=99)
        chances = SequenceChances.of(interests, NOISE)
        alone, given = exact_bits(chances, *self.tested)
        self.exact = {False: alone / slots, True: given / slots}
        self.users, self.slots = users, slots


def excess(chain, world, *, conditional):
    """Of each tested user."""
    from reidrisk.learning.hardware import torch

    known, shown = (torch.tensor(rows).long() for rows in world.tested)
    with torch.no_grad():
        nats = [
            chain.nats(known[start : start + BLOCK] if conditional else None, some).sum(1)
            for start in range(0, TESTED, BLOCK)
            for some in [shown[start : start + BLOCK]]
        ]
    bits = torch.cat(nats).double().numpy() / math.log(2) / world.slots
    return bits - world.exact[conditional]


def learned(world, begin, how, *, conditional):
    """What is missed before and after training; seconds of each."""
    from reidrisk.learning.hardware import torch
    from reidrisk.learning.training import train
    from reidrisk.learning.type_chain import FLOOR, begun

    start = time.process_time()
    rows = [one[HELD_OUT:] for one in world.rows]
    chain = begun(*rows, 349, conditional=conditional, seed=1, begin=begin)
    began = time.process_time() - start
    numbers = chain.keep.detach().clone()
    with torch.no_grad():
        chain.keep.fill_(-math.log(FLOOR))
        types = excess(chain, world, conditional=conditional)
        chain.keep.copy_(numbers)
    known, shown = (torch.tensor(one) for one in world.rows)

    def loss(some):
        source = known[some].long() if conditional else None
        return chain.nats(source, shown[some].long()).mean()

    start = time.process_time()
    held = torch.arange(HELD_OUT)
    train(chain, lambda some: loss(some + HELD_OUT), lambda: float(loss(held)), world.users, how)
    took = time.process_time() - start
    return types, excess(chain, world, conditional=conditional), began, took


def told(values):
    return f"{values.mean():.4f} ({values.std() / math.sqrt(values.size):.4f})"


def line(*cells):
    print("|", " | ".join(cells), "|", flush=True)


def heading():
    line("rows", "users", "begun", "H(B)", "H(B given A)", "MI", "CPU s: begun", "trained")
    line(*["---"] * 8)


def from_types(world):
    from reidrisk.learning.models import CHAIN_TRAINING

    found = [
        learned(world, "types", CHAIN_TRAINING["types"], conditional=given)
        for given in (False, True)
    ]
    for name, place in (("EM types for good, not trained", 0), ("types, trained", 1)):
        alone, given = found[0][place], found[1][place]
        times = [found[0][2] + found[1][2], place * (found[0][3] + found[1][3])]
        figures = [told(alone), told(given), told(alone - given)]
        line(world.name, f"{world.users:,}", name, *figures, *(f"{one:.0f}" for one in times))


def from_scratch(world, steps):
    from reidrisk.learning.models import CHAIN_TRAINING

    how = replace(CHAIN_TRAINING["scratch"], steps=steps)
    _, given, began, took = learned(world, "scratch", how, conditional=True)
    name = f"scratch, {steps:,} steps"
    times = [f"{one:.0f}" for one in (began, took)]
    line(world.name, f"{world.users:,}", name, "", told(given), "", *times)


def main():
    heading()
    for persistence in (1.0, 0.9, 0.7):
        from_types(World(MANY, 8, persistence))
    from_types(World(MANY, 1))
    from_types(World(MORE, 1))
    for steps in SCRATCH.values():
        from_scratch(World(MANY, 8), steps)
