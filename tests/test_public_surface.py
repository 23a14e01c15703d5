"""What one finds after `import bayes_bias`: these names, no others, each with its docstring."""

import inspect
from types import ModuleType

import pytest

import bayes_bias
from bayes_bias import debiasing, known_bias, language_models, measures, plots, sentence_pairs, tpr_gaps

SPACES = [bayes_bias, debiasing, known_bias, language_models, measures, plots, sentence_pairs, tpr_gaps]

NAMES = [
    "AssociationTable",
    "Sampling",
    "__version__",
    "calibrate",
    "combine_replicates",
    "compare",
    "compare_all",
    "contrast",
    "cosines",
    "criterion",
    "debiasing",
    "fit",
    "known_bias",
    "language_models",
    "load_fit",
    "load_spec",
    "load_templates",
    "load_wordlist",
    "log_probabilities",
    "measures",
    "open_embedding",
    "plan",
    "plots",
    "pool",
    "posterior_draws",
    "posterior_predictive",
    "prior_predictive",
    "published",
    "pymc_model",
    "report",
    "save_fit",
    "save_vectors",
    "sentence_pairs",
    "similarities",
    "stability",
    "summarize",
    "sweep",
    "tpr_gaps",
    "verdict",
    "word_effects",
    "wordlist",
    "write",
]


def test_these_names_and_no_others():
    assert bayes_bias.__all__ == dir(bayes_bias) == NAMES
    assert len(NAMES) <= 42


@pytest.mark.parametrize("name", sorted(bayes_bias.TYPES))
def test_what_functions_return_can_be_imported_and_is_not_listed(name: str):
    assert inspect.isclass(getattr(bayes_bias, name))
    assert name not in dir(bayes_bias)


@pytest.mark.parametrize("module", SPACES, ids=lambda module: module.__name__)
def test_every_name_is_there_and_says_what_it_is(module: ModuleType):
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        found = getattr(module, name)
        if name != "__version__":
            assert len(inspect.getdoc(found) or "") > 30, name
            own = (found.__doc__ or "").removeprefix(getattr(found, "__name__", "").partition(".")[0])
            assert not own.startswith("("), f"{name} has the docstring that dataclasses make up"
