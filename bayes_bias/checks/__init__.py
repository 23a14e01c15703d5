"""Can a fit be believed? Fit to the data, prior sensitivity, calibration on random nulls."""
