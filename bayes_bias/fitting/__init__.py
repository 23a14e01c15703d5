"""Fit a model to a table: compilation, sampling, diagnostics, and storage."""
