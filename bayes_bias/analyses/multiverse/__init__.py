"""Multiverse analysis: the bias of one table under each combination of defensible choices."""
