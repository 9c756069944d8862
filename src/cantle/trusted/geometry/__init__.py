"""The public shapes that records are counted in: boxes, grids of cells, partitions of sets."""
