"""Sentences that hold for every study."""

NOT_COVERED = (
    "Attackers who know more than is stated: names, addresses, times of visits, other releases.",
    "What else is learned about a person who is not named: traits may leak without identity.",
    "Harm to people who are named wrongly.",
    "Changes in people or in the release after the data were collected.",
)


LAST_DIGITS = (
    "Models learn by sums of floats, which come in another order on another machine or with "
    "another version of torch: there, the last digits of what they learned may differ."
)


INTERVALS = (
    "Intervals of what a model learned hold chance in who was measured, and nothing of what it has "
    "not learned: the truth may lie outside."
)
