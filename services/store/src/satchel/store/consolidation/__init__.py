"""Which memories say much the same, and the one memory that they become. Pure."""

from satchel.store.consolidation.clustering import Cluster, clusters_of
from satchel.store.consolidation.merging import Group, groups_of, merged_memory

__all__ = ["Cluster", "Group", "clusters_of", "groups_of", "merged_memory"]
