"""From a model and a table to a fit: compiled, sampled, diagnosed, stored."""
