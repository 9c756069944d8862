"""The fixed evaluator: Naive Bayes, C4.5*, their scores, and how records are split to learn and to test.

Two evaluators can differ by five points on one release, so this one must not change: another constant here would
change every published figure. Every figure shows its score on raw records, and a test compares that on Adult with
84.7 %, which it was when the figures were made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from cantle.errors import ParameterError
from cantle_lab.papers.coding import Coded, Coder, Floats, Ints

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

Design = NDArray[np.float32]


class Classifier(Protocol):
    """What the evaluator needs of a classifier."""

    def fit(self, table: Coded) -> None:
        """Learns from the records."""

    def proba(self, codes: Ints) -> Floats:
        """Class probabilities, one row per record."""


class NaiveBayes:
    """Naive Bayes as in Weka: Laplace-smoothed counts for categories, one Gaussian per class for numbers.

    The standard deviation of a Gaussian is at least a sixth of the grid step, so that densities of a constant column
    are finite.
    """

    def __init__(self, coder: Coder) -> None:
        self.coder = coder

    def fit(self, table: Coded) -> None:
        """Learns class frequencies and each attribute's distribution in each class (Laplace smoothing 1)."""
        self._prior = np.log(np.bincount(table.labels, minlength=self.coder.classes) + 1.0)
        self._terms = [self._learn(i, table) for i in range(len(self.coder.attributes))]

    def proba(self, codes: Ints) -> Floats:
        """Posterior probabilities, one row per record."""
        logs = np.tile(self._prior, (len(codes), 1))
        for i, term in enumerate(self._terms):
            logs += term[codes[:, i]]
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def _learn(self, i: int, table: Coded) -> Floats:
        """The log-likelihood of each code of attribute i (rows) in each class (columns)."""
        grid = self.coder.attributes[i]
        cells = np.bincount(
            table.codes[:, i] * self.coder.classes + table.labels, minlength=grid.size * self.coder.classes
        ).reshape(grid.size, self.coder.classes)
        if grid.kind != "number":
            smooth = cells + 1.0
            return np.asarray(np.log(smooth / smooth.sum(axis=0)))
        return _gaussian(cells)


def _gaussian(cells: Ints) -> Floats:
    """The log density at each code, from counts by code and class; it is constant for a class without records."""
    value = np.arange(len(cells), dtype=np.float64)[:, None]
    total = cells.sum(axis=0)
    mean = (cells * value).sum(axis=0) / np.maximum(total, 1)
    spread = np.sqrt((cells * (value - mean) ** 2).sum(axis=0) / np.maximum(total, 1))
    spread = np.maximum(spread, 1 / 6)
    logs = -0.5 * ((value - mean) / spread) ** 2 - np.log(spread * np.sqrt(2 * np.pi))
    return np.asarray(np.where(total > 0, logs, -np.log(len(cells))))


class C45:
    """ "C4.5*": scikit-learn's entropy tree, at least 2 records in a leaf, pruned as C4.5 does (CF 0.25).

    Numbers and ordered categories become one ordinal column, other categories one column per value; splits are binary.
    Its accuracy on Adult is about a point below that of Weka's J48, so figures of the two must not be mixed.
    """

    confidence = 0.25

    def __init__(self, coder: Coder) -> None:
        self.coder = coder

    def fit(self, table: Coded, weights: Ints | None = None) -> None:
        """Grows and prunes the tree; `weights[i]`, a whole number, counts record i exactly that many times."""
        from sklearn.tree import DecisionTreeClassifier

        if weights is not None:
            table, weights = table.take(np.flatnonzero(weights > 0)), weights[weights > 0]
        size = len(table) if weights is None else int(weights.sum())
        if size < 4:  # too few for two leaves; an empty release becomes one leaf without counts
            self._tree = Tree.leaf(np.bincount(table.labels, weights, self.coder.classes).astype(np.float64))
            return
        # A leaf needs a weight of 2. Weights are whole, so 1.9 means the same and is safe against rounding of the
        # share.
        rules = {"min_samples_leaf": 2} if weights is None else {"min_weight_fraction_leaf": 1.9 / size}
        grown = DecisionTreeClassifier(criterion="entropy", random_state=0, **rules)
        grown.fit(self._design(table.codes), table.labels, sample_weight=weights)
        self._tree = Tree.read(grown, self.coder.classes)
        self._tree.prune(self.confidence)

    def proba(self, codes: Ints) -> Floats:
        """Class shares in the leaf of each record, with Laplace correction, so that pure leaves can be ranked."""
        counts = self._tree.counts[self._tree.apply(self._design(codes))] + 1.0
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    @property
    def leaves(self) -> int:
        """The number of leaves after pruning."""
        return self._tree.leaves

    def _design(self, codes: Ints) -> Design:
        columns = [
            codes[:, i : i + 1] == np.arange(grid.size)
            if grid.kind == "nominal" and grid.size > 2
            else codes[:, i : i + 1]
            for i, grid in enumerate(self.coder.attributes)
        ]
        return np.hstack(columns).astype(np.float32)


@dataclass
class Tree:
    """A binary tree as flat arrays; node 0 is the root, children come after their parent, -1 marks a leaf."""

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    counts: Floats

    @classmethod
    def leaf(cls, counts: Floats) -> Tree:
        """A tree of one leaf."""
        none = np.array([-1], dtype=np.int64)
        return cls(none, np.zeros(1), none.copy(), none.copy(), counts[None, :])

    @classmethod
    def read(cls, grown: DecisionTreeClassifier, classes: int) -> Tree:
        """The arrays of a fitted scikit-learn tree, with counts for all public classes."""
        tree = grown.tree_
        shares = tree.value[:, 0, :]  # shares or counts, depending on the version of scikit-learn
        shares = shares / shares.sum(axis=1, keepdims=True)
        counts = np.zeros((len(shares), classes))
        counts[:, grown.classes_] = np.rint(shares * tree.weighted_n_node_samples[:, None])
        children = tree.children_left.astype(np.int64), tree.children_right.astype(np.int64)
        return cls(tree.feature.astype(np.int64), tree.threshold.copy(), *children, counts)

    @property
    def leaves(self) -> int:
        """The number of leaves that can be reached from the root."""
        stack, leaves = [0], 0
        while stack:
            node = stack.pop()
            if self.left[node] < 0:
                leaves += 1
            else:
                stack += [int(self.left[node]), int(self.right[node])]
        return leaves

    def prune(self, confidence: float) -> None:
        """C4.5's error-based pruning by subtree replacement (Quinlan 1993, chapter 4).

        A subtree becomes a leaf if the pessimistic errors of the leaf exceed those of the subtree by at most 0.1, the
        tolerance of Quinlan's program.
        """
        size = self.counts.sum(axis=1)
        as_leaf = size * upper_error(size - self.counts.max(axis=1), size, confidence)
        errors = as_leaf.copy()
        for node in range(len(size) - 1, -1, -1):
            if self.left[node] < 0:
                continue
            below = errors[self.left[node]] + errors[self.right[node]]
            if as_leaf[node] <= below + 0.1:
                self.left[node] = self.right[node] = -1
            else:
                errors[node] = below

    def apply(self, design: Design) -> Ints:
        """The leaf of each record."""
        node = np.zeros(len(design), dtype=np.int64)
        active = np.flatnonzero(self.left[node] >= 0)
        while len(active):
            here = node[active]
            below = design[active, self.feature[here]] <= self.threshold[here]
            node[active] = np.where(below, self.left[here], self.right[here])
            active = active[self.left[node[active]] >= 0]
        return node


# One-sided normal deviates by confidence, between which C4.5 interpolates (Quinlan 1993, stats.c).
_CONFIDENCES = (0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATES = (100, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)


def upper_error(errors: Floats, size: Floats, confidence: float = 0.25) -> Floats:
    """Quinlan's U_CF(E, N): an upper bound, at confidence CF, of the error rate after E errors in N.

    Without errors it is exact: the p with (1 - p)^N = CF. Otherwise it is C4.5's normal approximation to the binomial,
    from which the figures in the book come.

    >>> upper_error(np.array([0, 1]), np.array([6, 16])).round(3).tolist()
    [0.206, 0.157]
    """
    deviate = float(np.interp(confidence, _CONFIDENCES, _DEVIATES)) ** 2
    wrong = np.asarray(errors, dtype=np.float64) + 0.5
    size = np.asarray(size, dtype=np.float64)
    share = np.minimum(wrong / size, 1.0)
    spread = np.sqrt(deviate * (wrong * (1 - share) + deviate / 4))
    rate = np.minimum((wrong + deviate / 2 + spread) / (size + deviate), 1.0)
    return np.asarray(np.where(np.asarray(errors) > 0, rate, 1 - confidence ** (1 / size)))


CLASSIFIERS: Mapping[str, Callable[[Coder], Classifier]] = {"NB": NaiveBayes, "C4.5*": C45}


def accuracy(labels: Ints, proba: Floats) -> float:
    """The share of records whose most probable class is the true one."""
    return float((proba.argmax(axis=1) == labels).mean())


def balanced_accuracy(labels: Ints, proba: Floats) -> float:
    """The share of a class's records that are classified correctly, averaged over the classes present."""
    from sklearn.metrics import recall_score

    present = np.unique(labels)
    return float(recall_score(labels, proba.argmax(axis=1), labels=present, average="macro"))


def auc(labels: Ints, proba: Floats) -> float:
    """The area under the ROC curve, where ties count half: the mean over classes, each against the rest.

    It is 0.5 if there is only one class.
    """
    from sklearn.metrics import roc_auc_score

    present = np.unique(labels)
    if len(present) < 2:
        return 0.5
    return float(np.mean([roc_auc_score(labels == c, proba[:, c]) for c in present]))


SCORES: Mapping[str, Callable[[Ints, Floats], float]] = {
    "accuracy": accuracy,
    "balanced accuracy": balanced_accuracy,
    "AUC": auc,
}


def scores(model: Classifier, test: Coded) -> dict[str, float]:
    """All scores of a trained classifier."""
    proba = model.proba(test.codes)
    return {name: f(test.labels, proba) for name, f in SCORES.items()}


def mean_of(every: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The means of the same scores, measured several times."""
    return {name: float(np.mean([one[name] for one in every])) for name in every[0]}


def halves(size: int, seed: int) -> tuple[Ints, Ints]:
    """Positions of the records to learn from (2/3) and to test on (1/3)."""
    order = np.random.default_rng(seed).permutation(size)
    cut = 2 * size // 3
    return order[:cut], order[cut:]


def folds(size: int, count: int, seed: int) -> list[tuple[Ints, Ints]]:
    """(learn, test) positions of each fold of a cross-validation."""
    if not 2 <= count <= size:
        raise ParameterError(f"folds is {count}; it must be between 2 and the number of records")
    fold_of = np.random.default_rng(seed).permutation(size) % count
    return [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(count)]
