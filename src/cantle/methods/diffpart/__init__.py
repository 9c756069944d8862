"""DiffPart: sets partitioned top-down over a tree of items (Chen et al. 2011)."""
