"""The local web page: from a private file to a checked release, or a finished release to look at, in a browser.

It is a front end of the commands: it writes the files that they read (schema.yaml, cantle.toml, a ledger, a release),
and whatever reads private records runs as a command in a process of its own.
"""
