"""Ways to use cantle: from Python (`publishing`, `estimators`), on the command line (`cli`), in a browser (`studio`).

All of them publish through `publishing`, which opens the data (`opening`), charges the ledger and runs a method.
"""
