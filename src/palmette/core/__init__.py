"""The nouns: hierarchy, labels, statistics, tasks, and the rules that decode scores."""
