"""Check that the fit has converged."""

from bayes_bias.analyses.report.check import Check, Checker, Study
from bayes_bias.fitting.diagnostics import Diagnostics


def _run(study: Study) -> Check:
    """Check whether the posterior has converged, which its diagnostics show.

    If only the bias has converged, the verdict is still valid. If not even the bias has converged, the verdict already
    includes this.
    """
    diagnostics = Diagnostics.of(study.fitted)
    has_converged, bias_has_converged = diagnostics.converged, diagnostics.for_bias.converged
    brief = "converged" if has_converged else "not converged"
    if bias_has_converged and not has_converged:
        brief = "only the bias converged"
    return Check(
        diagnostics.text, brief, alarm=not has_converged, in_verdict=not bias_has_converged, result=diagnostics
    )


# There is no sentence for the methods text, because the paragraph about sampling reports convergence.
CHECKER = Checker("convergence", "Convergence", (), _run)
