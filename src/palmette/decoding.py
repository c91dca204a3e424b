"""Decision rules: how the probabilities of a hierarchy's nodes become answers.

Pass one as `decoding=` of a classifier, by object or by name (``"best_path"``, ``"top_down"``,
``"beam"``, ``"confident"``, ``"min_expected_loss"``).
"""

from palmette.core.decoding import Beam, BestPath, Confident, MinExpectedLoss, TopDown

__all__ = ["Beam", "BestPath", "Confident", "MinExpectedLoss", "TopDown"]
