"""The notebooks that train or open a model run from their first cell to their last, and show what they have stored."""

import pytest

from tests.test_notebooks import OF_MODELS, assert_runs_as_stored


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", OF_MODELS, ids=lambda path: path.stem)
def test_it_runs_and_shows_what_it_has_stored(path):
    assert_runs_as_stored(path)
