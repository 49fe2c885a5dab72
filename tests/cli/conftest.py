"""What commands are tried on."""

import pytest
from tests.cli.tools import call


@pytest.fixture(scope="session")
def seen(tmp_path_factory):
    """What two sites saw of 300 users out of 2,000; nobody changes it."""
    folder = tmp_path_factory.mktemp("seen")
    people = folder / "people.parquet"
    assert call("synth", "topics", "--users", "2k", "--epochs", "4", "-o", people).returncode == 0
    done = call(
        "release", "topics", people, "--noise", "10%", "--top", "4", "--targets", "300",
        "--seed", "7", "-o", folder / "seen",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "seen"
