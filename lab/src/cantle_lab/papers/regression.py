"""Regressions of a numeric target, on released and on raw records: coefficients of least squares, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from cantle.release import Release
from cantle.release.answers.regression import Model
from cantle.release.answers.table_answers import TableAsker
from cantle.release.schemas import code_reader
from cantle_lab.papers.coding import Coded, Coder, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

CLEAR = 5.0
"""Coefficients whose t value in the raw records is at least this large are compared."""

COMMON, MOST_DUMMIES = 0.05, 3
ROUNDS, FORMULAS = 40, 17


@dataclass(frozen=True)
class Design:
    """A public way to turn records into regressors: standardised numbers, and dummies of frequent categories."""

    columns: tuple[tuple[int, float, float], ...]  # column, then mean and deviation; or value and -1

    @staticmethod
    def of(coder: Coder, raw: Coded) -> Design:
        """The design for raw records: up to 3 dummies per category, after its most frequent value."""
        columns = list[tuple[int, float, float]]()
        for i, grid in enumerate(coder.attributes):
            codes = raw.codes[:, i]
            if grid.kind == "number":
                columns.append((i, float(codes.mean()), float(codes.std()) or 1.0))
                continue
            shares = np.bincount(codes, minlength=grid.size) / len(codes)
            order = [v for v in np.argsort(-shares).tolist() if shares[v] > COMMON]
            columns += [(i, float(value), -1.0) for value in order[1 : 1 + MOST_DUMMIES]]
        return Design(tuple(columns))

    def matrix(self, codes: Ints) -> Floats:
        """One row per record; the first column is 1."""
        parts = [np.ones(len(codes))]
        for i, centre, spread in self.columns:
            column = codes[:, i].astype(np.float64)
            parts.append((column == centre).astype(np.float64) if spread < 0 else (column - centre) / spread)
        return np.column_stack(parts)

    def fit(self, table: Coded) -> tuple[Floats, Floats]:
        """Coefficients without the intercept, and their standard errors."""
        x, y = self.matrix(table.codes), table.labels.astype(np.float64)
        inverse = np.linalg.pinv(x.T @ x)
        beta = inverse @ (x.T @ y)
        noise = float(((y - x @ beta) ** 2).sum()) / max(1, len(y) - x.shape[1])
        return beta[1:], np.sqrt(np.maximum(noise * np.diag(inverse), 1e-12))[1:]


def coefficients(coder: Coder, raw: Coded, release: Coded) -> dict[str, float]:
    """The median relative error of clear coefficients, and the share of them with the wrong sign."""
    design = Design.of(coder, raw)
    (truth, error), (found, _) = design.fit(raw), design.fit(release)
    clear = np.abs(truth / error) > CLEAR
    off = np.abs(found - truth)[clear] / np.abs(truth)[clear]
    flipped = float((np.sign(found) != np.sign(truth))[clear].mean())
    return {"OLS error": float(np.median(off)), "wrong signs": flipped, "clear": float(clear.sum())}


def coverage(release: Release, frame: pl.DataFrame, dice: np.random.Generator) -> dict[str, float]:
    """How many intervals of `release.regress` hold the coefficient of the published records, for formulas with all
    columns and with 1 to 4 random ones, and how wide they are in coefficients that are clear there."""
    asker, target = TableAsker(release), release.schema.target
    assert target is not None
    read = code_reader(release.manifest, frame)
    others = [name for name in asker.attributes if name != target]
    held, clear, wide = [], [], []
    for number in range(FORMULAS):
        some = dice.permutation(others)[: 1 + number % 4].tolist() if number else others
        model = Model.of(asker, target, some)
        told = release.regress(f"`{target}` ~ " + " + ".join(f"`{name}`" for name in some))
        slopes = list(told.coefficients.values())[1:]
        fit = model.fit(read)
        for one, truth, error in zip(slopes, fit.coefficients[1:].tolist(), fit.drawn.tolist(), strict=True):
            held.append(one.low <= truth <= one.high)
            if abs(truth) > CLEAR * error:
                clear.append(held[-1])
                wide.append((one.high - one.low) / 2 / abs(truth))
    return {"held": mean(held), "held, clear": mean(clear), "half width": float(np.median(wide))}


def predictions(coder: Coder, train: Coded, test: Coded) -> dict[str, float]:
    """R2 of boosting that was trained on `train`, on `test`."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.metrics import r2_score

    listed = [grid.kind != "number" and 2 < grid.size <= 255 for grid in coder.attributes]
    model = HistGradientBoostingRegressor(
        max_iter=ROUNDS, categorical_features=listed, random_state=0, early_stopping=False
    )
    model.fit(train.codes.astype(np.float64), train.labels)
    return {"R2": float(r2_score(test.labels, model.predict(test.codes.astype(np.float64))))}
