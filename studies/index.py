"""The page that lists the studies, with a line of each."""

import pandas as pd

from studies.chat_model.study import STUDY as CHAT_MODEL
from studies.languages.study import STUDY as LANGUAGES
from studies.native_writers.study import STUDY as NATIVE_WRITERS
from studies.people.study import STUDY as PEOPLE
from studies.study import HERE, Study, markdown, read_results
from studies.ten_tests.study import STUDY as TEN_TESTS

STUDIES: tuple[Study, ...] = (LANGUAGES, TEN_TESTS, NATIVE_WRITERS, PEOPLE, CHAT_MODEL)
INDEX = HERE / "README.md"

_HEAD = """# Studies

These studies re-analyse published findings with both word lists treated as samples. They use data that other people
published, and the public functions of this package. Each folder contains a text like a short paper, the code, the
results with versions, seed, and hashes of the data, and the figures. Data without a licence are not included. You can
reproduce a study from your copy of the data with `python -m studies.NAME --data FOLDER`, which continues where it was
interrupted.

The studies of known bias and of debiasing methods create their own data. For example, `python -m studies.known_bias
run SCENARIO --out FOLDER` trains models on corpora whose bias is known, and analyses them.

<!-- list -->

- [Gender in 25 languages](languages/README.md)
- [Ten tests in two embeddings and a sentence encoder](ten_tests/README.md)
- [Word lists by different native writers](native_writers/README.md)
- [Biases in vectors and in people](people/README.md)
- [21 stereotypes of a chat model](chat_model/README.md)
- [Corpora whose bias is known](../docs/evidence/power-and-coverage.md)
- [A league of debiasing methods](debiasing_league/README.md), in which the bias is known

<!-- headlines -->
"""


def page() -> str:
    """The page, with the numbers of the results."""
    rows = [row for study in STUDIES for row in study.headlines(read_results(study.home / "results"))]
    return (
        f"{_HEAD}\n{markdown(pd.DataFrame(rows, columns=['finding', 'as published', 'with both lists as samples']))}\n"
    )
