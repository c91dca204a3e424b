"""Fit a method on one half and score the other: own decision rule, tuned thresholds, areas."""

from __future__ import annotations

import warnings
from typing import Any

from palmette.compare import Split, measure
from palmette.metrics import multilabel_auc_score, multilabel_f1_score
from papers.soshf.methods import Method, Options, folds_of

__all__ = ["work"]

Results = dict[str, Any]


def work(method: Method, split: Split, options: Options) -> Results:
    """Score a method on a split.

    Parameters
    ----------
    method : Method
    split : Split
        With 0/1 matrices as labels.
    options : Options

    Returns
    -------
    dict
        ``f_own``, macro-F by the rule that the paper uses with the method; ``f_tuned``, with
        thresholds of the best F on out-of-bag or cross-validated scores; ``auc``, macro-AUC;
        ``fit_s`` and ``predict_s``, CPU seconds, the former with the tuning; ``peak_mib``, memory
        that fitting needed.
    """
    model = _with_thresholds(method, options)
    _warm(model, split)
    with measure() as fitting:
        model.fit(split.X_train, split.y_train)
    with measure() as asking:
        proba = model.predict_proba(split.X_test)
    tuned = model.predict(split.X_test)
    own = model.estimator_.predict(split.X_test) if method.folds else tuned
    return {
        "f_own": float(multilabel_f1_score(split.y_test, own)),
        "f_tuned": float(multilabel_f1_score(split.y_test, tuned)),
        "auc": float(multilabel_auc_score(split.y_test, proba)),
        "fit_s": fitting.cpu_seconds,
        "predict_s": asking.cpu_seconds,
        "peak_mib": fitting.peak_mib,
    }


def _warm(model: Any, split: Split) -> None:
    """Fit two trees first: kernels may have to be compiled, which is no work of the method."""
    if "n_estimators" in model.get_params(deep=False):
        from sklearn.base import clone

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two trees leave few rows out
            clone(model).set_params(n_estimators=2).fit(split.X_train, split.y_train)


def _with_thresholds(method: Method, options: Options) -> Any:
    model = method.make(options)
    if not method.folds:
        return model
    from palmette.multilabel import IterativeStratifiedKFold, ThresholdedMultilabel

    folds = IterativeStratifiedKFold(
        folds_of(method, options), shuffle=True, random_state=options.seed
    )
    return ThresholdedMultilabel(model, rule="f1", cv=folds, method="cv")
