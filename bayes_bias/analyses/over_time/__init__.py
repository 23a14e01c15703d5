"""Bias over time in slices of a corpus: the trend in these and in new slices, and the size and time of changes."""
