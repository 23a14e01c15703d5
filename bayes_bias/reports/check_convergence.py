"""Has the fit converged?"""

from collections.abc import Mapping

from bayes_bias.formatting import count, plain
from bayes_bias.models.diagnostics import Diagnostics
from bayes_bias.reports.check_record import Check, Checker, Cite, Sentence, Study


def _run(study: Study) -> Check:
    diagnostics = Diagnostics.of(study.fitted)
    return Check(diagnostics.text, alarm=not diagnostics.converged, in_verdict=True, result=diagnostics)


def sentence(diagnostics: Mapping[str, Diagnostics]) -> Sentence:
    """The diagnostics of all fits, by their names, in a sentence of the methods text."""
    values = diagnostics.values()
    failed = [name for name, one in diagnostics.items() if not one.converged]
    warning = f" The fits of {', '.join(failed)} have not converged and must not be interpreted." if failed else ""
    return (
        f"Over all fits, rank-normalised split R-hat was at most {plain(max(d.r_hat for d in values))}, bulk and tail"
        f" effective sample sizes were at least {count(min(d.ess_bulk for d in values))} and"
        f" {count(min(d.ess_tail for d in values))} ",
        Cite(("vehtari2021rank",)),
        f", and there were {sum(d.divergences for d in values)} divergent transitions.{warning}",
    )


# The paragraph about sampling says it in the methods text of every kind of report.
CHECKER = Checker("convergence", "Convergence", (), _run)
