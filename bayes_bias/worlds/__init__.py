"""Worlds whose bias is known: corpora of chosen shares, models trained on them, and what every measure says."""
