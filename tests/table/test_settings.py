"""Settings under which rows were produced, such as a temperature."""

import pandas as pd

from bayes_bias.table.settings import _codes_and_texts


def test_values_of_settings_accept_half_of_an_emoji() -> None:
    frame = pd.DataFrame({"epoch": pd.Series(["\ud83d", "b", "2", "\ud83d", "2.0"], dtype=object)})
    codes, texts = _codes_and_texts(frame, "epoch")
    assert texts == ("2", "b", "\ud83d")
    assert codes.to_list() == [2, 1, 0, 2, 0]
