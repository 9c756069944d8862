"""RPS: recursive partitioning and summarisation of tables (Qardaji and Li 2012)."""
