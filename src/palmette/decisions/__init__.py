"""Decisions: from scores to answers, by decoding rules, thresholds and coherence."""
