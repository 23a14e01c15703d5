"""Has the fit converged?"""

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.fitting.diagnostics import Diagnostics


def _run(study: Study) -> Check:
    diagnostics = Diagnostics.of(study.fitted)
    converged = diagnostics.converged
    brief = "converged" if converged else "not converged"
    return Check(diagnostics.text, brief, alarm=not converged, in_verdict=True, result=diagnostics)


# The paragraph about sampling says it in the methods text of every kind of report.
CHECKER = Checker("convergence", "Convergence", (), _run)
