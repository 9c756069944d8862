"""The local web page: from a private file to a checked release, or a finished release to look at, in a browser.

It is a face of the commands: what it writes (schema.yaml, cantle.toml, a ledger, a release) is what they read, and
whatever reads private records runs as a command in a process of its own.
"""
