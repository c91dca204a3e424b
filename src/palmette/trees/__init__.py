"""What several methods share about decision trees: bins, random numbers, histograms, growing."""
