"""Compute tables of associations from a word list and an embedding or a language model."""
