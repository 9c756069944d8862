"""Public part of the method `mosaic`: cells, groupings, smoothing and record generation."""
