"""Hierarchies, labels, class statistics, tasks, and the rules that decode scores."""
