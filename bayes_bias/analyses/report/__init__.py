"""Reports: for each word list a verdict, tables and figures, as a page, LaTeX, CSV and netCDF."""

# As many random nulls as fit into a minute and a half for three lists; for a narrower share ask for more.
CALIBRATION_DRAWS = 50
