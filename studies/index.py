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

_HEAD = """# Studies: what published findings say with both word lists as samples

Published findings again, from data that others published, with the public functions of this package. Each folder has
a text like a short paper, the code, the results with versions, seed and hashes of the data, and the figures.
`python -m studies.NAME --data FOLDER` makes one again from your copy of the data, and goes on where it was
interrupted. Data without a licence are not here. Known bias and the league of debiasing methods make data of their own:
`python -m studies.known_bias run SCENARIO --out FOLDER` trains models on corpora whose bias is known, and asks them.

<!-- list -->

- [Gender in 25 languages](languages/README.md)
- [Ten tests, two embeddings and a sentence encoder](ten_tests/README.md)
- [Is one speaker's word list interchangeable with another's?](native_writers/README.md)
- [What does a finding mean for people?](people/README.md)
- [21 stereotypes of a chat model, with labels and wordings as samples](chat_model/README.md)
- [Corpora whose bias is known](../docs/evidence/power-and-coverage.md)
- [A league of debiasing methods](debiasing_league/README.md), where the bias is known

<!-- headlines -->
"""


def page() -> str:
    """The page, with the numbers of the results."""
    rows = [row for study in STUDIES for row in study.headlines(read_results(study.home / "results"))]
    return (
        f"{_HEAD}\n{markdown(pd.DataFrame(rows, columns=['finding', 'as published', 'with both lists as samples']))}\n"
    )
