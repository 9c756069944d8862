"""Constants that all statistical tests share."""

SEEDED_P = 1e-6  # with fixed seeds: a test either always passes or never
UNSEEDED_P = 1e-9  # with new random words on every run: the rate of false alarms
DRAWS = 100_000
SEED = 20_130_627
MIN_EXPECTED = 10  # draws expected in each cell of a chi-square test
