"""Results of FMAT in R as label probabilities."""

import pandas as pd

from bayes_bias.errors import AnswersError

# The columns of FMAT results that may contain the word. It is the attribute or, without attributes, the target.
_FMAT_WORDS = ("A_word", "T_word")


def from_fmat(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert results of FMAT [1]_ for masked models to label probabilities. Return other rows unchanged.

    The words in place of the mask are the labels of two groups, and ``M_pair`` identifies the pairs of labels. The word
    is the attribute or, if there are no attributes, the target. The wording is the query. If a label is not in the
    vocabulary of a model, these results contain no probability for the label.

    Raises
    ------
    AnswersError
        If the mask does not have two groups, or if a word has several rows in a query.

    References
    ----------
    .. [1] Bao, H.-W.-S. (2024). The Fill-Mask Association Test (FMAT): Measuring propositions in natural language.
       Journal of Personality and Social Psychology, 127(3), 537-561. https://doi.org/10.1037/pspa0000396
    """
    word_columns = [name for name in _FMAT_WORDS if name in frame]
    is_fmat = bool(word_columns) and {"MASK", "M_word", "M_pair", "query", "prob"} <= set(frame)
    if not is_fmat:
        return frame
    group_of_row = frame["MASK"].astype(str)
    groups = group_of_row.unique().tolist()
    if len(groups) != 2:
        raise AnswersError(
            f"`answers`: the mask of FMAT's results must have two groups, but has {', '.join(groups)}. Keep two."
        )
    question = [name for name in ("model", "query", "M_pair", *word_columns) if name in frame]
    if (is_repeated := frame.duplicated([*question, "MASK"])).any():
        row = frame[is_repeated].iloc[0]
        raise AnswersError(
            f"`answers`: FMAT's results have several rows of '{row['M_word']}' with '{row[word_columns[0]]}' in the"
            f" query '{row['query']}'. Keep one row for each model."
        )
    # Each question has one row for the label of group a and one row for the label of group b.
    rows = frame[[*question, "M_word", "prob"]]
    rows_a, rows_b = (rows[group_of_row == group] for group in groups)
    pairs = rows_a.merge(rows_b, on=question, suffixes=("_a", "_b"))
    pairs["wording"] = pairs["query"].astype(str)
    if len(word_columns) == 2:  # the word is the attribute, so the target is part of the wording
        pairs["wording"] += " (" + pairs["T_word"].astype(str) + ")"
    pairs = pairs.rename(columns={word_columns[0]: "word", "M_word_a": "label_a", "M_word_b": "label_b"})
    columns = ["model", "wording", "word", "label_a", "label_b", "prob_a", "prob_b"]
    return pairs[[name for name in columns if name in pairs]]
