"""Sweeps: the analysis of many lists in many embeddings, in which each result is computed once."""
