"""The engines: exact counts of records in memory, in a file or on a cluster."""
