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
    words = [name for name in _FMAT_WORDS if name in frame]
    if not {"MASK", "M_word", "M_pair", "query", "prob"} <= set(frame) or not words:
        return frame
    groups = list(dict.fromkeys(frame["MASK"].astype(str)))
    if len(groups) != 2:
        raise AnswersError(
            f"`answers`: the mask of FMAT's results must have two groups, but has {', '.join(groups)}. Keep two."
        )
    question = [*(["model"] if "model" in frame else []), "query", "M_pair", *words]
    if frame.duplicated([*question, "MASK"]).any():
        row = frame[frame.duplicated([*question, "MASK"])].iloc[0]
        raise AnswersError(
            f"`answers`: FMAT's results have several rows of '{row['M_word']}' with '{row[words[0]]}' in the query"
            f" '{row['query']}'. Keep one row for each model."
        )
    a, b = (frame[frame["MASK"].astype(str) == group][[*question, "M_word", "prob"]] for group in groups)
    pairs = a.merge(b, on=question, suffixes=("_a", "_b"))
    pairs = pairs.rename(columns={words[0]: "word", "M_word_a": "label_a", "M_word_b": "label_b"})
    target = " (" + pairs["T_word"].astype(str) + ")" if len(words) > 1 else ""
    pairs = pairs.assign(wording=pairs["query"].astype(str) + target)
    kept = ["model", "wording", "word", "label_a", "label_b", "prob_a", "prob_b"]
    return pairs[[name for name in kept if name in pairs]]
