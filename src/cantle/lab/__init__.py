"""The papers' figures, baselines, benchmarks and deliberately broken variants; nothing that publishes uses it."""
