"""Comparisons of embeddings of the same words, before and after debiasing: the model of their differences."""
