"""The report: for each word list a verdict, tables and figures, as a page, LaTeX, CSV and netCDF."""

from bayes_bias.report.build import CALIBRATION_DRAWS, report
from bayes_bias.report.folder import check_folder
from bayes_bias.report.record import Report, Section

__all__ = ["CALIBRATION_DRAWS", "Report", "Section", "check_folder", "report"]
