"""What one finds after `import bayes_bias`: these names, no others, each with its docstring."""

import copy
import inspect
import pickle
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import joblib
import pytest

import bayes_bias
from bayes_bias import answers, debiasing, language_models, measures, plots, sentence_pairs, tpr_gaps

SPACES = [bayes_bias, answers, debiasing, language_models, measures, plots, sentence_pairs, tpr_gaps]

NAMES = [
    "AssociationTable",
    "Sampling",
    "__version__",
    "answers",
    "as_fit",
    "calibrate",
    "check",
    "combine",
    "combine_replicates",
    "compare",
    "compare_all",
    "contrast",
    "cosines",
    "criterion",
    "debiasing",
    "fit",
    "from_texts",
    "language_models",
    "load_fit",
    "load_spec",
    "load_templates",
    "load_wordlist",
    "log_probabilities",
    "measures",
    "multiverse",
    "open_embedding",
    "over_time",
    "plan",
    "plots",
    "pool",
    "posterior_draws",
    "posterior_predictive",
    "prior_predictive",
    "priors",
    "published",
    "pymc_model",
    "register",
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


def test_package_exports_only_listed_names():
    assert bayes_bias.__all__ == dir(bayes_bias) == NAMES
    assert len(NAMES) <= 50


@pytest.mark.parametrize("name", sorted(bayes_bias.TYPES))
def test_returned_types_import_without_being_listed(name: str):
    assert inspect.isclass(getattr(bayes_bias, name))
    assert name not in dir(bayes_bias)


@pytest.mark.parametrize("module", SPACES, ids=lambda module: module.__name__)
def test_public_names_have_docstrings(module: ModuleType):
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        found = getattr(module, name)
        if name != "__version__":
            assert len(inspect.getdoc(found) or "") > 30, name
            own = (found.__doc__ or "").removeprefix(getattr(found, "__name__", "").partition(".")[0])
            assert not own.startswith("("), f"{name} has the docstring that dataclasses make up"


RECORDS = {
    "word list": lambda: bayes_bias.load_wordlist("weat6"),
    "model": lambda: bayes_bias.load_spec("crossed"),
    "templates": lambda: bayes_bias.load_templates("association-10"),
    "embedding": lambda: bayes_bias.open_embedding("googlenews-demo"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_equal_pickled_copies_with_stable_hash(name: str) -> None:
    record = RECORDS[name]()
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == record
    assert joblib.hash(record) == joblib.hash(RECORDS[name]())


def test_association_table_keeps_hash_when_pickled() -> None:
    table = bayes_bias.cosines("weat6", "googlenews-demo", controls=())
    assert pickle.loads(pickle.dumps(table)).sha256 == table.sha256


def test_joblib_hash_differs_between_word_lists() -> None:
    six, seven = (bayes_bias.load_wordlist(name) for name in ("weat6", "weat7"))
    assert joblib.hash(six) != joblib.hash(replace(six, name="weat7")) != joblib.hash(seven)


def test_gallery_draws_every_plot():
    gallery = (Path(__file__).parents[1] / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert set(re.findall(r"bb\.plots\.(\w+)\(", gallery)) == set(plots.__all__)
