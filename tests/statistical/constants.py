"""The one set of constants of the statistical tests."""

SEEDED_P = 1e-6  # fixed seeds: a test either always passes or never
UNSEEDED_P = 1e-9  # fresh words on every run: false alarms at this rate
DRAWS = 100_000
SEED = 20_130_627
MIN_EXPECTED = 10  # draws a cell of a chi-square test must expect
