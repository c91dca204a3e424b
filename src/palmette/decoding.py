"""Decision rules: how the probabilities of a hierarchy's nodes become answers.

Pass one as `decoding=` of a classifier, by object or by name (``"best_path"``, ``"top_down"``,
``"beam"``, ``"confident"``, ``"min_expected_loss"``, ``"marginal"``), or with several paths a row
a `Threshold`.
"""

from palmette.core.decoding import Beam, BestPath, Confident, MinExpectedLoss, TopDown
from palmette.core.marginal import Marginal
from palmette.core.thresholds import Threshold

__all__ = ["Beam", "BestPath", "Confident", "Marginal", "MinExpectedLoss", "Threshold", "TopDown"]
