"""Every reader gives what a file holds, or one line: mutated files, and those that an earlier run found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.robustness.fuzzing import ALLOWED, READERS, changed, changes, outcome, seed_of


@pytest.mark.parametrize("name", READERS)
def test_the_seed_is_a_valid_file(name, tmp_path):
    assert outcome(READERS[name], seed_of(name), tmp_path) == "read"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=25)
@given(st.data())
def test_a_mutated_file_is_read_or_refused_in_one_line(name, tmp_path_factory, data):
    content = changed(seed_of(name), data.draw(changes(len(seed_of(name)))))
    assert outcome(READERS[name], content, tmp_path_factory.getbasetemp()) in ALLOWED
