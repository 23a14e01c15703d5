"""Many computations that do not wait for each other: each done once, kept in a folder, on all cores or on a cluster."""

from bayes_bias.tasks.cluster import connected
from bayes_bias.tasks.running import run_tasks
from bayes_bias.tasks.store import Store, open_store
from bayes_bias.tasks.task import Outcome, Task

__all__ = ["Outcome", "Store", "Task", "connected", "open_store", "run_tasks"]
