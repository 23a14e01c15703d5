"""What one finds after `import bayes_bias`: these names, no others, each with its docstring."""

import inspect
from types import ModuleType

import pytest

import bayes_bias
from bayes_bias import measures, plots

NAMES = [
    "Association",
    "Associations",
    "Cloze",
    "ModelSpec",
    "Recipe",
    "Sampling",
    "Scored",
    "Templates",
    "WordList",
    "__version__",
    "calibrate",
    "compare",
    "contrast",
    "cosines",
    "draws",
    "encode",
    "fit",
    "from_sentences",
    "gap_correlation",
    "ground_truth",
    "hard_debias",
    "load_causal",
    "load_encoder",
    "load_fit",
    "load_masked",
    "load_spec",
    "load_templates",
    "load_wordlist",
    "load_world",
    "log_probabilities",
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
    "score_pairs",
    "sentences_to_encode",
    "stability",
    "stereoset",
    "summarize",
    "sweep",
    "tpr_gaps",
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
