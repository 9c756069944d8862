"""The trusted base: all code that touches exact numbers (budget, noise, scores, queries, curator, engines, ledger)."""
