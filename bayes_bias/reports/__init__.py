"""Reports: for each word list a verdict, tables and figures, as a page, LaTeX, CSV and netCDF."""

from bayes_bias.reports.build import CALIBRATION_DRAWS, report
from bayes_bias.reports.folder import check_folder
from bayes_bias.reports.record import Report, Section
from bayes_bias.reports.writing import write

__all__ = ["CALIBRATION_DRAWS", "Report", "Section", "check_folder", "report", "write"]
