"""Check a fit: fit to the data, sensitivity to the prior, and calibration on random lists."""
