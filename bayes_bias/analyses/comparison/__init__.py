"""Comparisons of two embeddings for the same words, for example before and after debiasing."""
