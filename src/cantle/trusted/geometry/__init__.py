"""The public regions in which records are counted: boxes, grids of cells, partitions of sets."""
