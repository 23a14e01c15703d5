"""Statistical models and the one way from a table to a fit: specs, PyMC models, sampling, diagnostics, storage."""
