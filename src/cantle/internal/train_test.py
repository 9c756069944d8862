"""A classifier trained on the release and tested on private records, beside one trained on private records."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from cantle.drawing.counts import public_dice
from cantle.errors import install_command
from cantle.internal.comparison import Trained
from cantle.release.report.table_view import TableView
from cantle.schema.domain import Labels
from cantle.schema.table import TableSchema
from cantle.schema.values import Codes

MOST_RECORDS = 30_000
_FEWEST = 200
_MOST_CLASSES = 20


def train_and_test(schema: TableSchema, view: TableView, raw: Sequence[Codes]) -> tuple[Trained | None, str]:
    """The accuracies of the classifiers; or None, and the reason why there is no result."""
    target = schema.domain().target
    if target is None:
        return None, "No classifier: no column has role: target."
    if not isinstance(target.scale, Labels) or target.size > _MOST_CLASSES:
        return None, "No classifier: the target has too many classes."
    if find_spec("sklearn") is None:
        return None, f"No classifier: scikit-learn is not installed ({install_command('evaluate')})."
    if min(len(raw[0]), view.records) < _FEWEST or len(view.attributes) < 2:
        return None, "No classifier: there are too few records or columns."
    place = [one.name for one in view.attributes].index(target.name)
    order = public_dice(0).permutation(len(raw[0]))
    half = len(order) // 2
    private, others = order[:half][:MOST_RECORDS], order[half:][:MOST_RECORDS]
    released = public_dice(1).permutation(view.records)[:half][:MOST_RECORDS]
    truth = raw[place][others]
    scores = [
        _correct(_features(codes, place)[rows], codes[place][rows], _features(raw, place)[others], truth)
        for codes, rows in ((raw, private), (view.codes, released))
    ]
    majority = float(np.bincount(truth).max() / len(truth))
    return Trained(target.name, scores[0], scores[1], majority, len(truth)), ""


def _features(codes: Sequence[Codes], place: int) -> NDArray[np.float32]:
    return np.stack([one.astype(np.float32) for number, one in enumerate(codes) if number != place], axis=1)


def _correct(features: NDArray[np.float32], classes: Codes, others: NDArray[np.float32], truth: Codes) -> float:
    """The share of other records whose class is predicted correctly."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    if len(np.unique(classes)) < 2:
        return float((truth == classes[0]).mean())
    model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
    with threadpool_limits(1):  # several threads wait for each other: 17 s of CPU instead of 0.6 s on two busy cores
        return float((model.fit(features, classes).predict(others) == truth).mean())
