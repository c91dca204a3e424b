"""Decision rules: from probabilities of the nodes of a hierarchy to predictions.

Pass one as `decoding=` of a classifier, by object or by name (``"best_path"``, ``"top_down"``,
``"beam"``, ``"confident"``, ``"min_expected_loss"``, ``"marginal"``). With several paths per row it
is a number, `Threshold`, `TopK`, `ExpectedF`, or a rule that is tuned on held-out rows: `ShrunkF`
(``"shrunk_f1"``), `BestF` (``"f1"``), `Youden` (``"youden"``).
"""

from palmette.decisions._label_sets import ExpectedF, TopK
from palmette.decisions._rules import Beam, BestPath, Confident, Marginal, MinExpectedLoss, TopDown
from palmette.decisions._thresholds import Threshold
from palmette.decisions._tuned import BestF, ShrunkF, Youden

__all__ = [
    "Beam",
    "BestF",
    "BestPath",
    "Confident",
    "ExpectedF",
    "Marginal",
    "MinExpectedLoss",
    "ShrunkF",
    "Threshold",
    "TopDown",
    "TopK",
    "Youden",
]
