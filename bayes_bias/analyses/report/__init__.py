"""Reports: for each word list a verdict, tables and figures, as a page, LaTeX, CSV and netCDF."""
