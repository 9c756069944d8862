"""The lab: figures of the papers, baselines, benchmarks and deliberately broken variants.

No code that publishes data imports it.
"""
