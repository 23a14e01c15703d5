"""Figures of fits and results: each returns matplotlib axes."""

from importlib import import_module
from typing import Any

import lazy_loader

from bayes_bias.errors import optional

# Plots of a result are in the folder of its analysis, which imports this package. They are imported by name when used.
_OF_FITS = {
    "forest": ["plot_forest", "plot_overview"],
    "plan": ["plot_plan"],
    "posterior": ["plot_posterior"],
    "replicates": ["plot_replicates"],
    "variance_shares": ["plot_variance_shares"],
    "words": ["plot_related_words", "plot_word_bias"],
}
_OF_RESULTS = {
    "answers": ["plot_agreement", "plot_answers", "plot_label_pairs", "plot_model_contrasts", "plot_values"],
    "sweep": ["plot_atlas", "plot_changes", "plot_cost", "plot_ranking", "plot_removal"],
    "criterion": ["plot_criterion"],
    "multiverse": ["plot_multiverse"],
    "over_time": ["plot_over_time"],
    "sentence_pairs": ["plot_sentence_pairs"],
    "stability": ["plot_stability"],
    "tpr_gaps": ["plot_tpr_gaps"],
}
_analyses = {plot: analysis for analysis, plots in _OF_RESULTS.items() for plot in plots}
_of_fit, _, _of_fits = lazy_loader.attach(__name__, submod_attrs=_OF_FITS)

__all__ = sorted([*_of_fits, *_analyses])


@optional()
def __getattr__(name: str) -> Any:
    if name in _analyses:
        return getattr(import_module(f"bayes_bias.analyses.{_analyses[name]}.plots"), name)
    return _of_fit(name)


def __dir__() -> list[str]:
    return list(__all__)
