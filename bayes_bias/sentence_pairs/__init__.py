"""Benchmarks of sentence pairs: scores in, shares and differences with their uncertainty out."""
