"""Bias over time, in slices of a corpus: a trend for these slices and for new ones, changes, and when they came."""
