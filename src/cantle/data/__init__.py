"""Private files and frames become codes, record by record, silently."""
