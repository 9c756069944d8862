"""Engines: they hold the records and count exactly. They draw nothing, and only the curator uses them."""
