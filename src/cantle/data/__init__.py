"""Readers of private data: files and frames become codes, record by record, without messages about records."""
