"""How far each way of counting bits lies from the closed form, how often intervals hold, how long.

The embedded population: 349 topics, noise 5 %, 8 weeks; each week by itself, and all together. The
chart of `docs/concepts/information.md` is written beside that page. Then nine worlds of other
kinds, on which nothing was chosen: the balanced way was, by looking at the embedded population and
at worlds in which some tokens are copied.
"""

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import reidrisk as rr
from reidrisk.people.interests import shown_pairs
from reidrisk.plotting import FILE, chart, config, log_ticks

CHART = Path(__file__).parents[1] / "docs" / "concepts" / "information.svg"
POPULATIONS = {500: 40, 2_000: 40, 10_000: 20, 50_000: 10, 200_000: 5}
WAYS = ("plug-in", "miller-madow", "jackknife", "coverage", "shuffled", "held-out", "balanced")
FIGURES = ("known_entropy", "entropy", "conditional_entropy", "mutual_information")
KINDS = ("one slot", "8 slots together")


def counted(users, populations):
    """What is counted of several populations, by kind; and the processor time of one of them."""
    topics, found = rr.TopicsApi(), {kind: [] for kind in KINDS}
    for seed in range(populations):
        seen = topics.observe(rr.data.synthetic_topics(users=users, seed=seed), seed=seed)
        begun = time.process_time()
        bits = rr.information.count_information(seen)
        took = time.process_time() - begun
        found["one slot"].append(bits.slots[0])
        found["8 slots together"].append(bits.pooled)
    return found, took


def held(found, exact):
    """How many intervals of each figure hold the truth, of all."""
    truths = [getattr(exact, name.removeprefix("known_")) for name in FIGURES]
    return [
        np.mean([one.low <= truth <= one.high for one in (getattr(bits, name) for bits in found)])
        for name, truth in zip(FIGURES, truths, strict=True)
    ]


def rows_of(kind, users, found, exact):
    """For the chart: means over populations."""
    for way in WAYS:
        bits = np.mean([each[way].mutual_information.value for each in found])
        yield {"kind": kind, "users": users, "way": way, "bits": float(bits)}
    low, high = (
        float(np.mean([getattr(each.mutual_information, end) for each in found]))
        for end in ("low", "high")
    )
    truth = exact.mutual_information
    yield {"kind": kind, "users": users, "low": low, "high": high, "exact": truth}


def draw(rows):
    import altair as alt
    import vl_convert

    users = alt.X(
        "users:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=log_ticks(500, 200_000), format=",d"),
        title="users",
    )
    panels = []
    for kind in KINDS:
        own = [row for row in rows if row["kind"] == kind]
        band, lines = ([row for row in own if ("way" in row) is it] for it in (False, True))
        title = "bits shared per slot"
        y = {"scale": alt.Scale(domain=[0, 6], clamp=True), "title": title}
        colour = alt.Color(
            "way:N",
            sort=list(WAYS),
            scale=alt.Scale(domain=list(WAYS), range=[*FILE.series, FILE.ink]),
            legend=alt.Legend(title=None, orient="top", columns=7),
        )
        dash = alt.StrokeDash("way:N", sort=list(WAYS), legend=None)
        panels.append(
            alt.layer(
                chart(band).mark_area(opacity=0.25, color=FILE.muted).encode(
                    x=users, y=alt.Y("low:Q", **y), y2="high:Q"),
                chart(band).mark_line(color=FILE.ink, strokeWidth=1).encode(
                    x=users, y=alt.Y("exact:Q", **y)),
                chart(lines).mark_line(point=True).encode(
                    x=users, y=alt.Y("bits:Q", **y), color=colour, strokeDash=dash),
            ).properties(width=330, height=300, title=kind)
        )  # fmt: skip
    spec = alt.hconcat(*panels).configure(**config(FILE)).to_dict()
    CHART.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    print(f"the chart: {CHART}")


def topics_of(noise=0.05, **shape):
    interests = rr.data.Interests(**shape)
    return shown_pairs(interests.pairs, size=interests.size, noise=noise)


def neighbours(tokens, width, noise, random):
    """Ages or places: the other site is shown one nearby."""
    apart = np.abs(np.arange(tokens)[:, None] - np.arange(tokens))
    near = np.exp(-np.minimum(apart, tokens - apart) / width)
    near /= near.sum(axis=1, keepdims=True)
    return random.dirichlet(np.ones(tokens))[:, None] * ((1 - noise) * near + noise / tokens)


def blocks(tokens, kinds, share):
    """The other site is shown another token of the same kind, or any."""
    popular = np.arange(1, tokens + 1) ** -0.8
    popular /= popular.sum()
    kind = np.arange(tokens) % kinds
    same = (kind[:, None] == kind) * popular
    same /= same.sum(axis=1, keepdims=True)
    return popular[:, None] * (share * same + (1 - share) * popular)


def swapped(tokens, random):
    """Half of all are shown a token that stands for the other one, always the same."""
    popular = np.arange(1, tokens + 1) ** -1.3
    popular /= popular.sum()
    joint = np.outer(popular, popular) / 2
    joint[np.arange(tokens), random.permutation(tokens)] += popular / 2
    return joint


def other_worlds():
    random = np.random.default_rng(77)
    worlds = {
        "1,000 topics, 30 types, noise 10 %": topics_of(0.1, topics=1_000, types=30),
        "100 topics, 200 types": topics_of(topics=100, types=200),
        "8 types that differ less": topics_of(types=8, sigma=1.0),
        "sets of 3, noise 20 %": topics_of(0.2, size=3),
        "popularity falls faster": topics_of(s=1.5),
        "neighbours among 120": neighbours(120, 3, 0.1, random),
        "neighbours among 600": neighbours(600, 10, 0.05, random),
        "20 kinds of 400 tokens": blocks(400, 20, 0.7),
        "half are swapped, 300 tokens": swapped(300, random),
    }
    sizes = (500, 2_000, 10_000, 50_000)
    grid = Table("one slot of", "exact", *(f"{users:,}" for users in sizes), "hold",
                 title="The value less the exact, among so many users; 8 samples each")  # fmt: skip
    for name, joint in worlds.items():
        chances = joint / joint.sum()
        bits = [-(p[p > 0] * np.log2(p[p > 0])).sum()
                for p in (chances.sum(axis=0), chances.sum(axis=1), chances)]  # fmt: skip
        exact, tokens, cells, hold = bits[0] + bits[1] - bits[2], len(chances), [], []
        for users in sizes:
            found = [sampled(random, chances, users, tokens) for _ in range(8)]
            misses = [each.value - exact for each in found]
            cells.append(spread(misses))
            hold += [each.low <= exact <= each.high for each in found]
        grid.add_row(name, f"{exact:.2f}", *cells, f"{sum(hold)} of {len(hold)}")
    Console(width=130).print(grid)


def sampled(random, chances, users, tokens):
    pairs = random.choice(chances.size, users, p=chances.ravel())
    known, shown = np.divmod(pairs[:, None], tokens)
    seen = rr.Observations(known, shown, np.arange(users), tokens=tokens)
    return rr.information.count_information(seen).pooled.mutual_information


def main():
    exact = rr.data.Interests().information(0.05)
    grid = Table("users", "of", *WAYS, title="Bits shared, less the exact 0.930")
    told = Table("users", "of", "value", "interval", *FIGURES, title="Value, interval; who holds")
    rows = []
    for users, populations in POPULATIONS.items():
        found, took = counted(users, populations)
        print(f"{users:,} users, 8 slots: {took:.1f} s of one processor")
        for kind in KINDS:
            misses = (
                [each[way].mutual_information.value - exact.mutual_information
                 for each in found[kind]]
                for way in WAYS
            )  # fmt: skip
            grid.add_row(f"{users:,}", kind, *(spread(each) for each in misses))
            shared = [each.mutual_information for each in found[kind]]
            low, high = (
                np.mean([getattr(each, end) for each in shared]) for end in ("low", "high")
            )
            told.add_row(
                f"{users:,}", kind,
                spread([each.value - exact.mutual_information for each in shared], digits=3),
                f"{low:.2f} to {high:.2f}",
                *(f"{round(share * populations)} of {populations}"
                  for share in held(found[kind], exact)),
            )  # fmt: skip
            rows += rows_of(kind, users, found[kind], exact)
    console = Console(width=150)
    console.print(grid)
    console.print(told)
    print("± is between populations; ends of intervals are means")
    draw(rows)
    other_worlds()


def spread(misses, digits=2):
    return f"{np.mean(misses):+.{digits}f} ± {np.std(misses):.{digits}f}"
