"""Names of files."""

import re

from bayes_bias.files import file_names


def test_file_names_are_safe_and_differ_even_where_case_does_not():
    names = file_names(["weat6", "WEAT6", "../../etc/passwd", "中文", "<b>", "a/b"])
    assert len({name.lower() for name in names.values()}) == 6
    assert all(re.fullmatch(r"[a-z0-9_-]+", name) for name in names.values())
