"""All that touches exact numbers (README.md): budget, noise, scores, queries, curator, engines, ledger."""
