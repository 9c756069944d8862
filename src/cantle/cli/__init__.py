"""The command line; prints, decides nothing."""

from cantle.cli.app import main

__all__ = ["main"]
