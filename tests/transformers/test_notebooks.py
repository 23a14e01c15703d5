"""The notebooks that train or open a model run from their first cell to their last."""

import re

import pytest

from tests.test_notebooks import OF_MODELS, executed, number, texts


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", OF_MODELS, ids=lambda path: path.stem)
def test_notebook_bias_matches_truth_of_texts(path):
    """A training ends elsewhere on another processor, so that its digits are not those that are stored."""
    output = "\n".join(texts(executed(path)))
    biased, even = re.findall(r"The estimated bias is (\S+) \(", output)
    truth = re.search(r"in the text: (\S+) nats", output)
    assert truth is not None
    assert number(biased) == pytest.approx(number(truth[1]), abs=0.15)
    assert abs(number(even)) < 0.1
