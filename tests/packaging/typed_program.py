"""A user's program, checked for what each value is known to be: `test_distributions.py`."""

from typing import assert_type

import reidrisk as rr
from reidrisk.estimates import Estimate

topics = rr.TopicsApi(topics=349, top=5, noise=0.05)
people = rr.data.synthetic_topics(users=300, epochs=4, seed=1)
seen = assert_type(topics.observe(people, targets=50, seed=7), rr.Observations)

curve = rr.measure(seen, rr.Hamming())
assert_type(curve[4], Estimate)
assert_type(curve[4].value, float)
assert_type(curve[4].low, float)
assert_type([slots for slots in curve], list[int])  # noqa: C416
plain, weighted = rr.measure(seen, [rr.Hamming(), rr.WeightedHamming(topics)], slots=(1, 4))
assert_type(plain[4].value - weighted[4].value, float)

matrix = rr.RepresentationMatrix([[0.6, 0.4], [0.1, 0.9]])
assert_type(matrix.users, int)
assert_type(rr.theory.random_user_optimum(matrix), float)
assert float(rr.theory.upper_matching(matrix)) <= 1

study = rr.Study(release=topics, attacks=(rr.Hamming(),), slots=(1, 4), targets=50, seed=7)
result = assert_type(study.run(people), rr.Result)
assert_type(result.to_json(), str)
for risk in result.risks:
    assert_type(risk.attack, str)
    assert_type(risk.slots, int)
assert_type(rr.__version__, str)
