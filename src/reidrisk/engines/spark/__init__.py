"""The Spark engine: known rows stay on the executors, and work travels to them.

Only who asks for this engine loads pyspark.
"""

from reidrisk.engines.spark.engine import SparkEngine
from reidrisk.engines.spark.rows import SparkRows

__all__ = ["SparkEngine", "SparkRows"]
