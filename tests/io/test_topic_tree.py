"""The published tree of topics, made up or real; its tokens are by ascending id."""

import pytest
from tests.shared_data import DATA, needs_data
from tests.snapshots import refuses

from reidrisk.data import read_topic_tree, synthetic_topics
from reidrisk.releases import TopicsApi

TOPICS = "ID\tTopic\n1\t/Arts\n9\t/Cars\n7\t/Arts/Music\n8\t/Arts/Music/Jazz/Bebop\n"
BUCKETS = "Root\tBucket\n/Arts\tStandard\n/Cars\tHigh\n"


@pytest.fixture
def files(tmp_path):
    def write(topics=TOPICS, buckets=BUCKETS):
        (tmp_path / "topics.tsv").write_text(topics, encoding="utf-8")
        (tmp_path / "buckets.tsv").write_text(buckets, encoding="utf-8")
        return tmp_path / "topics.tsv", tmp_path / "buckets.tsv"

    return write


def test_topics_are_a_tree_with_utilities(files):
    found = read_topic_tree(*files())
    assert found.ids == (1, 7, 8, 9)
    assert found.names[2] == "/Arts/Music/Jazz/Bebop"
    assert found.parents == (-1, 0, 1, -1)
    assert found.buckets == (0, 0, 0, 1)
    assert read_topic_tree(files()[0]).buckets == ()
    TopicsApi(topics=len(found), top=2, presence=1.0, parents=found.parents, buckets=found.buckets)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"topics": ""}, "empty-file"),
        ({"topics": "ID\tTopic\n"}, "empty-table"),
        ({"topics": TOPICS + "x\t/Home\n"}, "invalid-topic"),
        ({"topics": TOPICS + "1\t/Home\n"}, "invalid-topic"),
        ({"topics": TOPICS + "2\t/Cars\n"}, "invalid-topic"),
        ({"topics": TOPICS + "2\tHome\n"}, "invalid-topic"),
        ({"topics": TOPICS + "2\t\n"}, "invalid-topic"),
        ({"topics": TOPICS + "2\n"}, "ragged-row"),
        ({"topics": "ID\tTopic\tNote\n1\t/Arts\t\n"}, "wrong-number-of-columns"),
        ({"topics": TOPICS + "2\t/Home\n"}, "missing-utility"),
        ({"buckets": BUCKETS + "/Home\tLow\n"}, "invalid-utility"),
    ],
)
def test_bad_files_are_refused(files, change, code):
    with refuses(code):
        read_topic_tree(*files(**change))


def test_unreadable_files_are_refused(tmp_path):
    with refuses("file-not-found"):
        read_topic_tree(tmp_path / "none.tsv")
    (tmp_path / "latin.tsv").write_bytes("ID\tTopic\n1\t/Café\n".encode("latin-1"))
    with refuses("malformed-line"):
        read_topic_tree(tmp_path / "latin.tsv")


@needs_data
def test_the_published_taxonomies():
    one = read_topic_tree(DATA / "chrome_taxonomy_v1.tsv")
    two = read_topic_tree(DATA / "chrome_taxonomy_v2.tsv", DATA / "chrome_utility_buckets_v1.tsv")
    assert (len(one), one.ids) == (349, tuple(range(1, 350)))
    assert (len(two), max(two.ids)) == (469, 629)
    for found in (one, two):
        assert all(
            parent == -1 or name.startswith(found.names[parent] + "/")
            for name, parent in zip(found.names, found.parents, strict=True)
        )
    assert 0 < sum(two.buckets) < 469
    assert two.buckets[two.names.index("/Autos & Vehicles")] == 1
    assert two.buckets[two.names.index("/News")] == 0
    release = TopicsApi.browser(469, presence=0.5, buckets=two.buckets, parents=two.parents)
    assert release.slots(synthetic_topics(10, topics=469, epochs=6)) == 6
