"""Statistical models: a spec as data, the PyMC models it describes, and what their posteriors leave to be drawn."""
