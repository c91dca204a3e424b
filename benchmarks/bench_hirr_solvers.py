"""Solvers of HiRR-FS side by side: CPU seconds, memory and the objective they reach.

    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_solvers.py dd
    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_solvers.py gram
    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_solvers.py text
    OMP_NUM_THREADS=1 python benchmarks/bench_hirr_solvers.py couplings

All but `gram` need the data home (PALMETTE_DATA). `dd` is the protein set as the paper uses it,
raw, lambda = 10. `gram` is a made problem of 4,096 features and five nodes, whose Gram matrices are
given. `text` is 20 Newsgroups, tf-idf of 26,214 words. "IRLS of the paper" forms every inverse, as
its equations do, and makes ten sweeps from random weights. Where nodes are not coupled, the
MultiTaskLasso of scikit-learn and that of skglm (where it is installed) solve the same problems,
one node after the other. The tolerance is a gap of 1e-6 of the objective without weights; that of
skglm is on the optimality conditions. `couplings` are strong couplings, relative to the data,
with and without the two shortcuts of coupled nodes: one sum of products per family of siblings
(diatoms, three sweeps), and extrapolation of sweeps (DD and imclef07a, a gap of 1e-3, at most 200
sweeps).
"""

from __future__ import annotations

import argparse
import resource
import warnings
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import MultiTaskLasso

from palmette.compare import environment, measure
from palmette.datasets import fetch
from palmette.feature_selection import _hirr_solvers
from palmette.feature_selection._base import ScoringProblem
from palmette.feature_selection._hirr import HirrScore
from palmette.feature_selection._hirr_design import GramDesign
from palmette.feature_selection._hirr_problem import HirrProblem, Weights
from palmette.feature_selection._hirr_solvers import random_start, solve_bcd, solve_irls
from palmette.labels._space import LabelSpace

TOL = 1e-6


def line(what, name, hirr, function, *arguments):
    """Print what a function takes that returns weights."""
    with measure() as usage:
        weights = function(*arguments)
    value, gap = hirr.assess(weights)
    n_used = [int(np.sum(own.norms > 1e-8)) for own in weights]
    print(
        f"| {what} | {name} | {usage.cpu_seconds:.2f} | {usage.peak_mib:.0f} | {value:.4f} | "
        f"{gap:.1e} | {n_used} |",
        flush=True,
    )


def head():
    print("| problem | solver | CPU s | peak MiB | objective | gap | features in use |")
    print("|---|---|---|---|---|---|---|")


# ---------------------------------------------------------------------- rivals


def inverse_sweeps(hirr, n_sweeps, seed=0):
    """Ten sweeps as the paper prints them: dense matrices for siblings, explicit inverses."""
    weights = random_start(hirr, seed)
    for _ in range(n_sweeps):
        for t in range(hirr.n_tasks):
            design, coupling = hirr.designs[t], hirr.couple(t, weights)
            matrix = design.gram + np.diag(0.5 * hirr.lam[t] / np.maximum(weights[t].norms, 1e-8))
            right = design.cross
            if coupling is not None:
                matrix += coupling.block(np.arange(len(matrix)))
                matrix += coupling.ridge * np.eye(len(matrix))
                right = right + coupling.pull
            weights[t] = Weights(weights[t].rows, np.linalg.inv(matrix) @ right)
    return weights


def lassos(hirr, model, targets):
    """Solve every node on its own rows; `targets` has (rows, indicators) of each."""
    weights = []
    for t, (Z, Y) in enumerate(targets):
        lasso = model(hirr.lam[t] / (2 * len(Y)))
        coefficients = np.ascontiguousarray(lasso.fit(Z, Y).coef_.T)
        used = np.flatnonzero(coefficients.any(axis=1))
        weights.append(Weights(used, coefficients[used]))
    return weights


def rivals():
    settings = {"fit_intercept": False, "tol": 1e-6, "max_iter": 20_000}
    yield "scikit-learn MultiTaskLasso", lambda alpha: MultiTaskLasso(alpha, **settings)
    try:
        import skglm
    except ImportError:
        return
    # its tolerance is on the violation of the optimality conditions
    settings = {"fit_intercept": False, "tol": 1e-5, "max_iter": 1_000}
    skglm.MultiTaskLasso(0.1, **settings).fit(np.eye(4), np.eye(4)[:, :2])  # compiles its kernels
    yield "skglm MultiTaskLasso", lambda alpha: skglm.MultiTaskLasso(alpha, **settings)


# ---------------------------------------------------------------------- problems


def problem_of(X, labels, hierarchy):
    nodes = hierarchy.index(labels)
    classes = np.unique(nodes)
    codes = np.searchsorted(classes, nodes).astype(np.int32)
    return ScoringProblem(X, LabelSpace(hierarchy, classes), codes)


def posed(problem, solver, **settings):
    return HirrScore(solver=solver, **settings).pose(problem, keep=True)[0]


def descend(hirr):
    return solve_bcd(hirr, tol=TOL).weights


def sweeps(hirr, n_sweeps):
    return solve_irls(hirr, tol=0.0, max_iter=n_sweeps).weights


def dd():
    bunch = fetch("protein_dd")
    problem = problem_of(np.asarray(bunch.X_train, float), bunch.y_train, bunch.hierarchy)
    ties = {"": (0, 0), ", parent": (1, 0), ", parent and sibling": (1, 1)}
    for name, (parent, sibling) in ties.items():
        settings = {"lam": 10.0, "relative": False, "standardize": False}
        settings |= {"parent": parent, "sibling": sibling}
        on_dd("DD" + name, problem, settings, 300, not parent)
    for lam in (0.1, 0.03, 0.01, 0.003, 0.001):
        on_dd(f"DD standardized, {lam} lambda_max", problem, {"lam": lam}, 200, lam >= 0.03)


def on_dd(what, problem, settings, n_sweeps, with_rivals):
    exact, rows = posed(problem, "irls", **settings), posed(problem, "bcd", **settings)
    solve_bcd(rows, tol=1e-3)  # kernels are compiled outside of the clock
    rows = posed(problem, "bcd", **settings)
    line(what, "IRLS of the paper, 10 sweeps", exact, inverse_sweeps, exact, 10)
    for n in (10, n_sweeps):
        line(what, f"irls, {n} sweeps", exact, sweeps, exact, n)
    line(what, "bcd", exact, descend, rows)
    line(what, "bcd, Gram given", exact, descend, exact)
    targets = [(d.Z, d.targets) for d in (rows.designs[t] for t in range(rows.n_tasks))]
    for rival, model in rivals() if with_rivals else ():
        line(what, rival, exact, lassos, exact, model, targets)


def gram(n_features, with_irls):
    """A root and its four children, each with 40 features that tell its options apart.

    Features are correlated with those around them, the first neighbour by 0.9.
    """
    rng = np.random.default_rng(0)
    designs = []
    for n_rows in (4000, 1000, 1000, 1000, 1000):
        codes = rng.integers(5, size=n_rows)
        X = rng.normal(size=(n_rows, n_features))
        for j in range(1, n_features):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * X[:, j]
        X[:, rng.choice(n_features, 40, replace=False)] += 0.5 * rng.normal(size=(5, 40))[codes]
        X -= X.mean(axis=0)
        X /= X.std(axis=0)
        Y = np.eye(5)[codes]
        Y -= Y.mean(axis=0)
        designs.append(GramDesign(X.T @ X, X.T @ Y, float(np.sum(Y**2))))
    parents = np.array([-1, 0, 0, 0, 0], dtype=np.int32)
    maxima = np.array([design.lambda_max for design in designs])
    for name, parent, sibling in (("", 0.0, 0.0), (", parent and sibling", 1.0, 1.0)):
        for lam in (0.3, 0.1, 0.03):
            hirr = HirrProblem(designs, parents, lam * maxima, parent, sibling)
            solve_bcd(hirr, tol=1e-3)  # kernels are compiled outside of the clock
            what = f"{n_features} features, {lam} lambda_max{name}"
            line(what, "bcd, Gram given", hirr, descend, hirr)
            if with_irls and lam == 0.1:
                line(what, "irls, 10 sweeps", hirr, sweeps, hirr, 10)


def text():
    bunch = fetch("20newsgroups_bydate")
    X = TfidfVectorizer(max_features=26_214).fit_transform(bunch.X_train)
    problem = problem_of(X.tocsr(), bunch.y_train, bunch.hierarchy)
    HirrScore(0.5).score(problem)  # kernels are compiled outside of the clock
    for standardize, lams in ((False, (0.1, 0.03, 0.01)), (True, (0.1,))):
        for lam in lams:
            score = HirrScore(lam, standardize=standardize, tol=TOL)
            hirr, _ = score.pose(problem)
            what = f"20 Newsgroups{', standardized' if standardize else ''}, {lam} lambda_max"
            line(what, "bcd, from X and y", hirr, from_rows, score, problem)
    print(
        f"peak of the whole process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB"
    )


class ByPairs(HirrProblem):
    """The same problem with the weights of all siblings beside each other at every node."""

    def couple(self, t, weights):
        n_features = len(self.designs[t].cross)
        siblings, self.siblings = self.siblings(t), lambda t: []
        try:
            coupling = super().couple(t, weights)
        finally:
            del self.siblings
        factors = [np.empty((n_features, 0))]
        for s in siblings:
            full = weights[s].toarray(n_features)
            strength = np.sqrt(self.repulsions[t] * self.repulsions[s])
            factors.append(np.sqrt(2.0 * strength) * (full - full.mean(axis=0)))
        return replace(coupling, factor=np.hstack(factors), matrix=None)


def couplings():
    for name in ("diatoms", "protein_dd", "imclef07a"):
        bunch = fetch(name)
        X = np.asarray(bunch.X_train, float)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        problem = problem_of(X, bunch.y_train, bunch.hierarchy)
        solve_bcd(posed(problem, "bcd", parent=0.1, sibling=0.1), tol=0.1)  # compiles
        for parent, sibling in ((1.0, 1.0), (10.0, 0.01), (100.0, 1.0)):
            hirr = posed(problem, "bcd", parent=parent, sibling=sibling)
            what = f"{name}, parent {parent:g}, sibling {sibling:g}"
            if name == "diatoms":
                fields = (hirr.designs, hirr.parents, hirr.lam, hirr.parent, hirr.sibling)
                line(what, "products by pairs", hirr, few_sweeps, ByPairs(*fields), 3)
                line(what, "one sum", hirr, few_sweeps, hirr, 3)
                continue
            for title, memory in (("plain", 10**9), ("extrapolated", _hirr_solvers.MEMORY)):
                with patch.object(_hirr_solvers, "MEMORY", memory):
                    line(what, title, hirr, few_sweeps, hirr, 200)


def few_sweeps(hirr, n_sweeps):
    found = solve_bcd(hirr, tol=1e-3, max_iter=n_sweeps)
    print(f"{len(found.objective) - 1} sweeps, {'' if found.converged else 'not '}converged:")
    return found.weights


def from_rows(score, problem):
    hirr, _ = score.pose(problem)
    return score.solve(hirr).weights


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["dd", "gram", "text", "couplings"])
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--no-irls", action="store_true", help="leave the slow one of `gram` out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(environment())
    head()
    if arguments.what == "dd":
        dd()
    elif arguments.what == "gram":
        gram(arguments.features, not arguments.no_irls)
    elif arguments.what == "text":
        text()
    else:
        couplings()


if __name__ == "__main__":
    main()
