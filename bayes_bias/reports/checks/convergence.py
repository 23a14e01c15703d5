"""Has the fit converged?"""

from collections.abc import Mapping

from bayes_bias.formatting import count, plain
from bayes_bias.inference.diagnostics import Diagnostics
from bayes_bias.reports.check import Check, Checker, Cite, Sentence, Study


def _run(study: Study) -> Check:
    found = Diagnostics.of(study.fitted)
    return Check(found.text, alarm=not found.converged, found=found)


def _methods(checks: Mapping[str, Check]) -> Sentence:
    return sentence({name: check.found for name, check in checks.items()})


def sentence(diagnostics: Mapping[str, Diagnostics]) -> Sentence:
    """What the methods text says of all fits, by their names."""
    every = diagnostics.values()
    failed = [name for name, found in diagnostics.items() if not found.converged]
    warned = (
        f" The fits of {', '.join(failed)} have not converged and must not be interpreted." if failed else ""
    )
    return (
        f"Over all fits, rank-normalised split R-hat was at most {plain(max(d.r_hat for d in every))}, bulk and tail"
        f" effective sample sizes at least {count(min(d.ess_bulk for d in every))} and"
        f" {count(min(d.ess_tail for d in every))} ",
        Cite(("vehtari2021rank",)),
        f", and divergent transitions numbered {sum(d.divergences for d in every)}.{warned}",
    )


CHECKER = Checker("convergence", "Convergence", (), _run, _methods)
