"""Families, a method for linked tables: one parent with its children, in a public order."""
