"""Reports with a verdict, tables, and figures for each word list, as a page, LaTeX, CSV, and netCDF."""
