"""Sentences and where a word stands in them."""
