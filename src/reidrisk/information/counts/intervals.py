"""Intervals of bits from counts, with an end proved on each side."""

from dataclasses import dataclass

from reidrisk.estimates import Estimate

TOO_FEW = 0.1
"""Share of pairs that came once, from which on there are too few users for the alphabet."""


@dataclass(frozen=True, slots=True)
class Way:
    """Bits by one way of correcting counts; intervals tell noise, not how it leans.

    Attributes:
        name: Of the way.
        leans: On which side of the truth its mutual information tends to lie where users are few:
            high, low, or either. It is no bound; the intervals of `CountedBits` are made of bounds.
        known_entropy: H(A), of what the known site is shown.
        entropy: H(B), of what the anonymous site is shown.
        conditional_entropy: H(B|A).
        mutual_information: I(A;B) = H(B) - H(B|A), what both share.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.information.count_information(seen)
        >>> for way in found.pooled.ways[:3]:
        ...     print(f"{way.name}, leans {way.leans}: {way.mutual_information.value:.2f}")
        plug-in, leans high: 0.75
        miller-madow, leans high: 0.59
        jackknife, leans high: 0.52
    """

    name: str
    leans: str
    known_entropy: Estimate
    entropy: Estimate
    conditional_entropy: Estimate
    mutual_information: Estimate


@dataclass(frozen=True, slots=True)
class CountedBits:
    """Bits of a slot, of all slots taken together, or summed over them.

    The interval of each figure reaches from what is never too high on average, less its noise, to
    what is never too low on average, and its noise: it covers how far counts lean, and is wide
    where users are few. The value is the balanced way's, moved between these ends where it lies
    outside. Proof, and what is only measured: `docs/concepts/proofs.md`.

    Attributes:
        users: Who were counted.
        pairs: Pairs of symbols that were counted, a gap being a symbol.
        seen_once: Share of pairs that came once. About as many of the next user's would be new.
        known_entropy: H(A), of what the known site is shown.
        entropy: H(B), of what the anonymous site is shown.
        conditional_entropy: H(B|A), what of it the known site leaves open.
        mutual_information: I(A;B) = H(B) - H(B|A), what both share.
        ways: The same figures by each way of correcting counts.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> slot = rr.information.count_information(seen).slots[0]
        >>> slot.users, slot.pairs, round(slot.entropy.value, 2)
        (2000, 2000, 4.91)
    """

    users: int
    pairs: int
    seen_once: float
    known_entropy: Estimate
    entropy: Estimate
    conditional_entropy: Estimate
    mutual_information: Estimate
    ways: tuple[Way, ...]

    @property
    def too_few(self) -> bool:
        """Whether there are too few users for the alphabet, so that values are half guessed."""
        return self.seen_once > TOO_FEW

    def __getitem__(self, name: str) -> Way:
        """A way by its name."""
        return next(way for way in self.ways if way.name == name)


@dataclass(frozen=True, slots=True)
class CountedInformation:
    """Bits of each slot, summed over slots, and per slot of all slots taken together.

    Attributes:
        slots: Each slot by itself; nothing is assumed of them.
        summed: Their sum: the bits of a row if its slots were independent.
        pooled: Per slot, all slots counted together. It is of more pairs, so it leans less; it
            means something only where slots are alike, as weeks are and columns are not.
        warnings: What makes the figures doubtful, a sentence each.

    Example:
        >>> people = rr.data.synthetic_topics(users=2_000, topics=40, types=6, epochs=2, seed=1)
        >>> seen = rr.TopicsApi(topics=40).observe(people, seed=7)
        >>> found = rr.information.count_information(seen)
        >>> len(found.slots), round(found.pooled.mutual_information.value, 2)
        (2, 0.48)
    """

    slots: tuple[CountedBits, ...]
    summed: CountedBits
    pooled: CountedBits
    warnings: tuple[str, ...]
