"""The model of mosaic: what is fitted to its noisy tables, between and after its questions."""
