"""G. Jun, J. Ghosh: Multi-class boosting with class hierarchies. Its tables and figures again."""
