"""Campaigns on a Ray cluster: each worker is one more process that runs the campaign."""

from recjury.cluster.driver import Cluster, run_on_cluster
from recjury.cluster.worker import Job

__all__ = ["Cluster", "Job", "run_on_cluster"]
