"""Baskets of two tables, where a release is said that shows one token in a slot."""

import reidrisk as rr


def test_nothing_is_promised_of_baskets(tmp_path):
    rows = [(user, item) for user in range(12) for item in range(user % 4 + 1)]
    table = tmp_path / "baskets.csv"
    table.write_text("user,item\n" + "".join(f"u{user},i{item}\n" for user, item in rows))
    linked = rr.data.read_linked(table, table)
    topics = rr.TopicsApi(topics=linked.tokens, top=2, noise=0.05)
    study = rr.Study(release=topics, attacks=(rr.attacks.attack_named("overlap"),), targets=None)
    uppers = [one for one in study.run(linked).bounds if one.side == "upper"]
    assert {one.name for one in uppers} <= {"mutual information", "matching"}
