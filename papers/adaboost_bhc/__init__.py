"""G. Jun, J. Ghosh: Multi-class boosting with class hierarchies, reproduced."""
