"""H-Ada.MH and its kin as published, in plain numpy: slow, with nothing taken from the library.

Weights are kept as the papers keep them and scaled after every round. Columns come parents first;
`parents` lists the parents of every column, -1 being the root, which is no column.
"""

from __future__ import annotations

import numpy as np

CLEARLY = 1.00001  # one candidate takes the lead of another only by this factor
NO_EDGE = 1e-6

# ---------------------------------------------------------------------- eq. 5-6


def costs(parents):
    """c_j of eq. 6, |sibl| counting the node itself; in a DAG the mean over the parents."""
    n_children = {}
    for above in parents:
        for parent in above:
            n_children[parent] = n_children.get(parent, 0) + 1
    cost = {-1: 1.0}
    for column, above in enumerate(parents):
        cost[column] = np.mean([cost[parent] / n_children[parent] for parent in above])
    return np.array([cost[column] for column in range(len(parents))])


def initial_weights(parents, n_samples, kind="hierarchical", sample_weight=None):
    """w(i, j) of eq. 5, or those of AdaBoost.MH; rows may count by weights of their own."""
    c = costs(parents) if kind == "hierarchical" else np.ones(len(parents))
    rows = np.ones(n_samples) if sample_weight is None else sample_weight
    return np.outer(rows / rows.sum(), c / c.sum())


# ---------------------------------------------------------------------- weak hypotheses


def first_clear_best(candidates):
    """Index of the leader by the last item of each; None where there are none."""
    best = None
    for i, candidate in enumerate(candidates):
        if best is None or candidate[-1] > candidates[best][-1] * CLEARLY:
            best = i
    return best


def vote(signed):
    """+1 where the positive weight is larger, else -1; rounding does not decide a draw."""
    return 1.0 if signed.sum() > 1e-9 * np.abs(signed).sum() else -1.0


class Stump:
    """Of one column: the split of largest edge, unless a constant does as well.

    With `two_sided` there is no constant, and the sides vote differently whatever they hold.
    """

    def __init__(self, codes, signed, two_sided=False):
        candidates = [(-1, 0, 0.0 if two_sided else abs(signed.sum()))]
        for feature in range(codes.shape[1]):
            here = codes[:, feature]
            tried = np.unique(here)[:-1]
            sides = np.where(here <= tried[:, None], 1.0, -1.0)
            edges = np.abs(sides @ signed)
            cuts = [(feature, cut, edge) for cut, edge in zip(tried, edges, strict=True)]
            if cuts:
                candidates.append(cuts[first_clear_best(cuts)])
        self.feature, self.cut, _ = candidates[first_clear_best(candidates)]
        self.votes = {leaf: vote(signed[self.leaves(codes) == leaf]) for leaf in (0, 1)}
        if two_sided and self.feature >= 0:
            left, right = (signed[self.leaves(codes) == leaf].sum() for leaf in (0, 1))
            self.votes = {0: 1.0, 1: -1.0} if left > right else {0: -1.0, 1: 1.0}

    def leaves(self, codes):
        if self.feature < 0:
            return np.zeros(len(codes), dtype=int)
        return (codes[:, self.feature] > self.cut).astype(int)

    def __call__(self, codes):
        leaves = self.leaves(codes)
        return np.where(leaves == 1, self.votes[1], self.votes[0])


class Tree:
    """Of one column: splits by the Gini gain of the weights, leaves by majority."""

    def __init__(self, codes, signed, depth):
        codes, signed = codes[signed != 0], signed[signed != 0]
        self.split, self.vote = None, vote(signed)
        if depth == 0 or (signed > 0).all() or (signed < 0).all():
            return
        leaders = []
        for feature in range(codes.shape[1]):
            here = codes[:, feature]
            tried = np.unique(here)[:-1]
            gains = gini(signed, here <= tried[:, None])
            cuts = [(feature, cut, gain) for cut, gain in zip(tried, gains, strict=True)]
            if cuts:
                leaders.append(cuts[first_clear_best(cuts)])
        if not leaders:
            return
        feature, cut, _ = leaders[first_clear_best(leaders)]
        left = codes[:, feature] <= cut
        self.split = feature, cut
        self.sides = [Tree(codes[side], signed[side], depth - 1) for side in (left, ~left)]

    def __call__(self, codes):
        if self.split is None:
            return np.full(len(codes), self.vote)
        feature, cut = self.split
        left, right = (side(codes) for side in self.sides)
        return np.where(codes[:, feature] <= cut, left, right)


def gini(signed, left):
    """Gain of several splits; `left` is of shape (n_splits, n_samples)."""
    return sum((side @ signed) ** 2 / (side @ np.abs(signed)) for side in (left, ~left))


# ---------------------------------------------------------------------- eq. 7


class Hypothesis:
    """h_t: one for every column, top to bottom, under a mask."""

    def __init__(self, codes, signed, parents, mask, rule, grow):
        self.parents, self.mask, self.rule = parents, mask, rule
        self.parts = []
        answers = []
        for column in range(len(parents)):
            through = self.through(answers, column, len(codes))
            searched = through if mask == "search" else np.ones(len(codes), dtype=bool)
            self.parts.append(grow(codes[searched], signed[searched, column]))
            answers.append(np.where(through, self.parts[column](codes), -1.0))

    def through(self, answers, column, n_samples):
        """Rows to which enough parents say +1; the root says so to all."""
        if self.mask == "none":
            return np.ones(n_samples, dtype=bool)
        above = [
            np.ones(n_samples, dtype=bool) if parent < 0 else answers[parent] > 0
            for parent in self.parents[column]
        ]
        return np.all(above, axis=0) if self.rule == "all" else np.any(above, axis=0)

    def __call__(self, codes):
        answers = []
        for column, part in enumerate(self.parts):
            through = self.through(answers, column, len(codes))
            answers.append(np.where(through, part(codes), -1.0))
        return np.column_stack(answers)


# ---------------------------------------------------------------------- eq. 8-12


def alpha(edge, eps):
    return 0.5 * np.log((1 + edge + eps) / (1 - edge + eps))


class HAdaMH:
    """Algorithm 1.

    `Y` holds -1 and +1, (n_samples, n_columns). `n_rows` is what rows count for in eps, their
    number unless they weigh more. After the fit: `edges`, `alphas` of every round and column.
    """

    def __init__(
        self,
        n_rounds,
        parents,
        *,
        mask="none",
        coefficient="global",
        weights="hierarchical",
        rule="all",
        learning_rate=1.0,
        grow=Stump,
    ):
        self.n_rounds, self.parents = n_rounds, parents
        self.mask, self.coefficient, self.kind, self.rule = mask, coefficient, weights, rule
        self.rate, self.grow = learning_rate, grow

    def fit(self, codes, Y, sample_weight=None):
        n_samples, n_columns = Y.shape
        w = initial_weights(self.parents, n_samples, self.kind, sample_weight)
        n_rows = n_samples if sample_weight is None else max(sample_weight.sum(), n_samples)
        eps, c = 1.0 / (n_rows * n_columns), w.sum(axis=0)
        self.rounds, self.edges, self.alphas = [], [], []
        for _ in range(self.n_rounds):
            h = Hypothesis(codes, w * Y, self.parents, self.mask, self.rule, self.grow)
            agrees = Y * h(codes)
            agreement = w * agrees
            if self.coefficient == "global":
                r = agreement.sum()
                a = np.full(n_columns, alpha(r, eps)) if r > NO_EDGE else np.zeros(n_columns)
            else:
                r_j = agreement.sum(axis=0) / c
                a = np.where(r_j > NO_EDGE, alpha(r_j, eps), 0.0)
            if not a.any():
                break
            a = self.rate * a
            self.rounds.append(h)
            self.edges.append(agreement.sum())
            self.alphas.append(a)
            w = w * np.exp(-a * agrees)
            w = w / w.sum() if self.coefficient == "global" else w / w.sum(axis=0) * c
        return self

    def scores(self, codes):
        total = np.zeros((len(codes), len(self.parents)))
        for a, h in zip(self.alphas, self.rounds, strict=True):
            total += a * h(codes)
        return total


# ---------------------------------------------------------------------- its kin


def discrete_adaboost(codes, y, n_rounds, eps=0.0, sample_weight=None):
    """Freund and Schapire's AdaBoost by errors; returns the scores of the rows."""
    w = np.ones(len(y)) if sample_weight is None else sample_weight.astype(float)
    w, scores = w / w.sum(), np.zeros(len(y))
    for _ in range(n_rounds):
        h = Stump(codes, w * y)(codes)
        error = w[h != y].sum()
        if 1 - 2 * error <= NO_EDGE:
            break
        a = 0.5 * np.log((1 - error + eps / 2) / (error + eps / 2))
        scores += a * h
        w = w * np.exp(-a * y * h)
        w = w / w.sum()
    return scores


def confident_adaboost_mh(codes, Y, n_rounds, prior, learning_rate=1.0):
    """Schapire and Singer's AdaBoost.MH with c = 1/2 ln((W+ + e) / (W- + e)) at the leaves of
    stumps, e being `prior` times what a pair of the column weighs on average."""
    n_samples, n_columns = Y.shape
    w, scores, edges = np.full(Y.shape, 1 / Y.size), np.zeros(Y.shape), []
    for _ in range(n_rounds):
        c, edge = np.zeros(Y.shape), 0.0
        for column in range(n_columns):
            stump = Stump(codes, w[:, column] * Y[:, column])
            leaves = stump.leaves(codes)
            for leaf in np.unique(leaves):
                here = leaves == leaf
                plus = w[here & (Y[:, column] > 0), column].sum()
                minus = w[here & (Y[:, column] < 0), column].sum()
                e = prior * w[:, column].sum() / n_samples
                c[here, column] = learning_rate * 0.5 * np.log((plus + e) / (minus + e))
                edge += abs(plus - minus)
        edges.append(edge)
        scores += c
        w = w * np.exp(-Y * c)
        w = w / w.sum()
    return scores, edges


def adaboost_ecc(codes, labels, colourings):
    """Guruswami and Sahai's AdaBoost.ECC with stumps; returns scores of labels and edges.

    A vote is alpha for one colour and beta for the other, each half the log-odds of the weights
    where the stump says so, as if it had seen half an average row more of either colour.
    """
    n_samples, n_labels = len(labels), len(colourings[0])
    wrong = np.arange(n_labels) != labels[:, None]
    D = wrong / (n_samples * (n_labels - 1))
    scores, edges = np.zeros((n_samples, n_labels)), []
    for code in colourings:
        own = code[labels]
        apart = (D * (code[None, :] != own[:, None])).sum(axis=1)
        apart = apart / apart.sum()
        leaves = Stump(codes, apart * own).leaves(codes)
        g, edge = np.zeros(n_samples), 0.0
        for leaf in np.unique(leaves):
            here = leaves == leaf
            plus, minus = apart[here & (own > 0)].sum(), apart[here & (own < 0)].sum()
            g[here] = 0.5 * np.log((plus + 0.5 / n_samples) / (minus + 0.5 / n_samples))
            edge += abs(plus - minus)
        edges.append(edge)
        scores += np.outer(g, code)
        D = D * np.exp(0.5 * g[:, None] * (code[None, :] - own[:, None]))
        D = D / D.sum()
    return scores, edges
