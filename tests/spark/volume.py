"""How much a session sent: what Spark itself counts."""

from typing import Any


def stages(spark: Any) -> list[Any]:
    """What is known of all stages of the session, also without its page."""
    java = spark.sparkContext._jvm  # noqa: SLF001
    store = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001
    nothing = java.java.util.ArrayList()
    numbers = spark.sparkContext._gateway.new_array(java.double, 0)  # noqa: SLF001
    found = store.stageList(nothing, False, False, numbers, nothing)  # noqa: FBT003
    return [found.apply(place) for place in range(found.size())]


def volume(spark: Any) -> int:
    """Bytes that came back to the driver, and that went from executor to executor, so far."""
    return sum(stage.resultSize() + stage.shuffleWriteBytes() for stage in stages(spark))
