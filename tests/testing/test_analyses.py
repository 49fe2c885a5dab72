"""The promises of analyses, kept by one of someone else and missed by broken ones."""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import pytest

from reidrisk.study import CustomAnalysis, Step
from reidrisk.testing import check_analysis


@dataclass(frozen=True)
class Counted:
    users: int
    share: float = 0.5


@dataclass(frozen=True)
class CountUsers(CustomAnalysis):
    """A plug-in: counts known users, and those of whom a risk was told."""

    name: ClassVar[str] = "counted"
    record: ClassVar[type] = Counted

    def assumptions(self, study, source):
        yield "Every user counts once."

    def steps(self, context):
        yield Step("counted-known", lambda _: {"counted": (Counted(context.users),)})
        yield Step("counted-told", lambda parts: {"counted": (Counted(parts["risks"][0].users),)})


def test_an_analysis_of_someone_else_keeps_every_promise():
    check_analysis(CountUsers())


@dataclass(frozen=True)
class OddlyNamed(CountUsers):
    name: ClassVar[str] = "counted users"


@dataclass(frozen=True)
class WithoutRecord(CountUsers):
    record: ClassVar[type] = dict


class Changeable(CountUsers):
    __hash__ = None


@dataclass(frozen=True)
class Mumbling(CountUsers):
    def assumptions(self, study, source):
        yield "every user"


@dataclass(frozen=True)
class Twice(CountUsers):
    def steps(self, context):
        for _ in range(2):
            yield Step("counted", lambda _: {"counted": ()})


@dataclass(frozen=True)
class Forgetful(CountUsers):
    numbers: ClassVar = count()

    def steps(self, context):
        yield Step("counted", lambda _: {"counted": (Counted(next(self.numbers)),)})


@dataclass(frozen=True)
class Restless(CountUsers):
    numbers: ClassVar = count()

    def steps(self, context):
        yield Step(f"counted-{next(self.numbers)}", lambda _: {"counted": ()})


@dataclass(frozen=True)
class OfTheEngine(CountUsers):
    def steps(self, context):
        rows = len(type(context.engine).__name__)
        yield Step("counted", lambda _: {"counted": (Counted(rows),)})


@dataclass(frozen=True)
class Meddling(CountUsers):
    def steps(self, context):
        yield Step("counted", lambda parts: parts.pop("risks") and {"counted": ()})


@dataclass(frozen=True)
class Elsewhere(CountUsers):
    def steps(self, context):
        yield Step("counted", lambda _: {"others": (Counted(1),)})


@dataclass(frozen=True)
class Unstorable(CountUsers):
    def steps(self, context):
        yield Step("counted", lambda _: {"counted": (Counted("many"),)})


@dataclass(frozen=True)
class NotANumber(CountUsers):
    def steps(self, context):
        yield Step("counted", lambda _: {"counted": (Counted(1, float("nan")),)})


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (OddlyNamed(), "letters, digits and hyphens"),
        (WithoutRecord(), "a record that is a dataclass"),
        (Changeable(), "frozen"),
        (Mumbling(), "sentences"),
        (Twice(), "a name of its own for each step"),
        (Forgetful(), "the same records when a step is run again"),
        (Restless(), "the same steps when they are listed again"),
        (OfTheEngine(), "on every engine"),
        (Meddling(), "to leave the records of earlier steps"),
        (Elsewhere(), "records named counted"),
        (Unstorable(), "can be stored"),
        (NotANumber(), "can be stored"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, CustomAnalysis) else "",
)
def test_what_breaks_a_promise_is_named(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_analysis(broken)
