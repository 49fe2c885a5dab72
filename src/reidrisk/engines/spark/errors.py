"""What Spark says in a hundred lines of Java, in one."""


def explained(wrong: BaseException) -> BaseException:
    """An error of ours for one of Spark's; what is not known stays as it is."""
    return wrong
