"""Statistical models: specifications, priors, variance components, and PyMC models."""
