"""What one finds after `import bayes_bias`: these names, no others, each with its docstring."""

import inspect
from types import ModuleType

import pytest

import bayes_bias
from bayes_bias import measures, plots

NAMES = [
    "Association",
    "Associations",
    "ModelSpec",
    "Sampling",
    "WordList",
    "__version__",
    "calibrate",
    "compare",
    "contrast",
    "cosines",
    "draws",
    "fit",
    "hard_debias",
    "load_fit",
    "load_spec",
    "load_wordlist",
    "measures",
    "open_embedding",
    "pairs",
    "pairwise",
    "plan",
    "plots",
    "pool",
    "predictive",
    "prior_predictive",
    "replicated",
    "report",
    "save_fit",
    "save_vectors",
    "stability",
    "summarize",
    "verdict",
    "word_effects",
    "write",
]


def test_these_names_and_no_others():
    assert bayes_bias.__all__ == NAMES


@pytest.mark.parametrize("module", [bayes_bias, measures, plots], ids=lambda module: module.__name__)
def test_every_name_is_there_and_says_what_it_is(module: ModuleType):
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        found = getattr(module, name)
        if name != "__version__":
            assert len(inspect.getdoc(found) or "") > 30, name
            own = (found.__doc__ or "").removeprefix(getattr(found, "__name__", "").partition(".")[0])
            assert not own.startswith("("), f"{name} has the docstring that dataclasses make up"
