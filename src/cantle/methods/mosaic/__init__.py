"""mosaic: noisy tables of the columns that depend on each other most, and records that agree with them."""
