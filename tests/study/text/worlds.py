"""Random results: every record that the verdict speaks of, with numbers that nearly meet."""

from dataclasses import replace

from hypothesis import strategies as st

from reidrisk.estimates import Estimate
from reidrisk.study.result import (
    Attacker,
    Bound,
    Compared,
    Decision,
    OpenSet,
    Refusal,
    Result,
    Risk,
    Signoff,
)

ATTACKS = ("plain", "clever", "deep")
MODELS = tuple(f"best within {name}" for name in ATTACKS)
CEILINGS = ("fano", "counting")
PROVED = ("crowding", "privacy", "everything", "optimum")
SLOTS, USERS = 4, 400
_TIGHT = (1e-9, 1e-6, 1e-3, 3e-3, 0.01, 0.03, 0.3)


@st.composite
def numbers(draw):
    """A few shares of which all others of a result are taken, exactly or nearly."""
    usual = st.sampled_from([0.0, 1.0, 0.01, 0.05, 0.09, 0.5, 1 / 3, 1 / USERS, 0.0999])
    pool = draw(st.lists(st.one_of(usual, st.floats(0, 1)), min_size=1, max_size=3))
    return st.builds(
        lambda value, nudge, sign: min(1.0, max(0.0, value * (1 + sign * nudge))),
        st.sampled_from(pool),
        st.sampled_from([0.0, *_TIGHT]),
        st.sampled_from([-1, 1]),
    )


@st.composite
def spans(draw, share, *, exact=None):
    """A value between two ends; exact, if asked for or by chance."""
    if exact or (exact is None and draw(st.booleans())):
        value = draw(share)
        return {"value": value, "low": value, "high": value}
    low, value, high = sorted(draw(st.tuples(share, share, share)))
    return {"value": value, "low": low, "high": high}


@st.composite
def risks(draw, share, attack, *, slots=SLOTS, users=USERS, setting=None):
    return Risk(
        attack=attack,
        slots=slots,
        users=users,
        targets=draw(st.sampled_from([1, 2, 500, 10_000])),
        not_assessed=draw(st.sampled_from([0, 0, 1, 2_600])),
        **draw(spans(share)),
        level=0.95,
        method="made",
        guessing=1 / users,
        setting=setting or {},
    )


@st.composite
def bounds(draw, share, name, *, slots=SLOTS):
    side = "upper" if name in PROVED else "estimate"
    level = draw(st.sampled_from([1.0, 0.95, 0.9]))
    # What is certain may have an interval all the same: its upper end is what counts.
    span = draw(spans(share, exact=None if side == "upper" or level < 1 else True))
    fits = draw(st.sampled_from([True, True, False])) if name in MODELS else None
    assumes = draw(st.sampled_from(["", "For whoever sees one site."]))
    number = Estimate(**span, level=level, trials=10, method="made")
    return Bound(name, side, number, assumes, fits, slots)


@st.composite
def just_above(draw, found, bound):
    """Sometimes a ceiling that lies so little above an attack that rounding may hide it."""
    if not found or found[0].high == 0 or draw(st.booleans()):
        return bound
    value = min(1.0, found[0].high * (1 + draw(st.sampled_from(_TIGHT))))
    return replace(
        bound, estimate=replace(bound.estimate, value=value, low=value, high=value, level=1.0)
    )


@st.composite
def estimates(draw, share):
    return Estimate(**draw(spans(share)), level=0.95, trials=100, method="made")


@st.composite
def open_sets(draw, share, attack):
    number = estimates(share)
    decisions = draw(
        st.lists(
            st.builds(
                Decision,
                threshold=st.floats(0, 1),
                wanted=st.sampled_from([None, 0.001, 0.01, 0.05]),
                right=number,
                wrong=number,
                accused=number,
                false=st.none() | number,
            ),
            max_size=3,
        )
    )
    rule = draw(st.sampled_from(["score", "gap", "posterior"]))
    present = draw(st.sampled_from([0.5, 0.9, 1.0]))
    slots = draw(st.sampled_from([1, SLOTS]))
    return OpenSet(attack, rule, slots, USERS, 250, 125, 3, present, tuple(decisions))


@st.composite
def releases(draw, share, name):
    names = draw(st.lists(st.sampled_from(ATTACKS), unique=True, max_size=3))
    spared = draw(st.lists(st.sampled_from(ATTACKS), unique=True, max_size=1))
    slots = draw(st.sampled_from([1, SLOTS]))
    return Compared(
        release=name,
        slots=slots,
        risks=tuple(draw(risks(share, one, slots=slots)) for one in names),
        refused=tuple(Refusal(one, "It does not apply.") for one in spared),
    )


@st.composite
def results(draw):
    share = draw(numbers())
    attacks = draw(st.lists(st.sampled_from(ATTACKS), unique=True, max_size=3))
    found = [draw(risks(share, one)) for one in attacks]
    found += [draw(risks(share, one, slots=1)) for one in attacks[:1]]
    for noise in draw(st.lists(st.sampled_from([0.2, 0.5]), unique=True)):
        some = draw(st.sampled_from([attacks, attacks[:1]]))
        found += [draw(risks(share, one, setting={"noise": noise})) for one in some]
    found += [draw(risks(share, one, users=40, setting={"users": 40})) for one in attacks[:1]]
    names = draw(st.lists(st.sampled_from([*MODELS, *CEILINGS, *PROVED]), unique=True, max_size=6))
    held = [draw(bounds(share, one)) for one in names]
    held += [draw(bounds(share, "elsewhere", slots=1)) for _ in range(draw(st.integers(0, 1)))]
    held = [draw(just_above(found, one)) if one.fits else one for one in held]
    highest = max((risk.high for risk in found if not risk.setting), default=0.5)
    limit = draw(st.sampled_from([None, highest, draw(share)]))
    source = draw(st.sampled_from(["", "our policy"]))
    beside = draw(st.lists(st.sampled_from(["cohorts", "samples"]), unique=True))
    return Result(
        title="Made",
        study={"unit": "weeks", "release": {"noise": 0.05}},
        users=USERS,
        targets=500,
        slots=(1, SLOTS),
        level=0.95,
        seed=1,
        risks=tuple(found),
        bounds=tuple(held),
        attackers=tuple(
            Attacker(one, f"what the {one} ones know", "Best.", likelihood=True)
            for one in (attacks if draw(st.booleans()) else [])
        ),
        strangers=tuple(
            draw(open_sets(share, one))
            for one in draw(st.lists(st.sampled_from(ATTACKS), max_size=3))
        ),
        releases=tuple(draw(releases(share, one)) for one in (["own", *beside] if beside else [])),
        signoff=None if limit is None else Signoff(limit=limit, limit_source=source),
    )
