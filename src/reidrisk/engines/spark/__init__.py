"""Search on a cluster: known rows stay on the executors, work travels to them, little comes back.

Only who asks for this engine loads pyspark.
"""

from reidrisk.engines.spark.engine import SparkEngine
from reidrisk.engines.spark.rows import SparkRows

__all__ = ["SparkEngine", "SparkRows"]
