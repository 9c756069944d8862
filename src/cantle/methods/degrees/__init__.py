"""The degree sequence of a graph (Qardaji and Li 2012, section 5)."""
