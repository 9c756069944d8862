"""Where a ledger is kept: one SQLite file (the embedded default) or a PostgreSQL database, with one behaviour."""
