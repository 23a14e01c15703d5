"""From a matrix of similarities that were computed elsewhere, and a word list, to a table."""

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

import pandas as pd

from bayes_bias.arguments import check_kind, check_switch
from bayes_bias.errors import TableError
from bayes_bias.measuring.coverage import check_coverage, coverage_of_matrix
from bayes_bias.table.association_table import AssociationTable, announce
from bayes_bias.table.metric import COSINE, Metric
from bayes_bias.table.word_labels import LABELS
from bayes_bias.words.list_rules import home_of
from bayes_bias.words.wordlist import (
    ControlsLike,
    ListLike,
    control_lists,
    load_controls,
    load_wordlist,
    refuse_from_vectors,
)


def cosines_from_matrix(
    matrix: pd.DataFrame,
    wordlist: ListLike,
    controls: ControlsLike | Iterable[ControlsLike] = (),
    *,
    metric: Metric = COSINE,
    name: str = "matrix",
    allow_loss: bool = False,
) -> AssociationTable:
    """The table of a word list whose cosines, or other similarities, stand in a matrix.

    Parameters
    ----------
    matrix : DataFrame
        Targets in the index, attributes in the columns; more of either are not used. NaN is a missing pair.
    wordlist, controls
        As in `bayes_bias.cosines`, but without control classes by default.
    metric : Metric
        What the numbers are, and in which units.
    name : str
        What messages call the matrix.
    allow_loss : bool
        Go on although the matrix lacks half of the words of a group or class.

    Raises
    ------
    TableError
        A word has two rows or columns, or a value is out of range; see `AssociationTable.from_frame`.
    CoverageError
        The matrix lacks half of the words of a group or class.
    WordListError
        The list cannot be read.

    Examples
    --------
    >>> matrix = pd.DataFrame({"boss": [0.4, 0.1], "maid": [0.1, 0.3]}, index=["he", "she"])
    >>> words = {"man=work": ["he"], "woman=home": ["she"], "work": ["boss"], "home": ["maid"]}
    >>> cosines_from_matrix(matrix, words).values.sel(target="she", attribute="maid").item()
    0.3
    """
    check_kind("matrix", matrix, pd.DataFrame, "not a DataFrame; give one with a row for each target", TableError)
    check_switch("allow_loss", allow_loss)
    for side, labels in (("rows", matrix.index), ("columns", matrix.columns)):
        if not labels.is_unique:
            raise TableError(f"{name}: two {side} are named '{labels[labels.duplicated()][0]}'; remove one")
    extra = [load_controls(source) for source in control_lists(controls)]
    words = load_wordlist(wordlist).with_controls(extra)
    refuse_from_vectors(words, f"'{name}' holds numbers alone")
    coverage = coverage_of_matrix(name, words, matrix.index, matrix.columns)
    if absent := coverage.absent_controls:
        words = load_wordlist(wordlist).with_controls([c for c in extra if not c.controls.keys() <= {*absent}])
        coverage = coverage_of_matrix(name, words, matrix.index, matrix.columns)
    check_coverage(coverage, allow_loss=allow_loss)
    groups, classes = home_of(words.groups), home_of({**words.classes, **words.controls})
    targets = [word for word in groups if word in matrix.index]
    attributes = [word for word in classes if word in matrix.columns]
    frame = (
        matrix.loc[targets, attributes]
        .rename_axis("target")
        .melt(ignore_index=False, var_name="attribute")
        .reset_index()
    )
    named = {"topic": words.topic_of, "pair": words.pair_of}
    labels = {
        label: [named[label.removeprefix(f"{side}_")].get(word, "") for word in frame[side]]
        for label, side in LABELS.items()
    }
    table = AssociationTable.from_frame(
        frame.assign(attribute_class=frame.attribute.map(classes), **labels).dropna(subset="value"),
        target="target",
        group=groups,
        attribute="attribute",
        attribute_class="attribute_class",
        value="value",
        stereotypes=words.stereotypes,
        opposites=words.opposites,
        metric=metric,
        name=words.name,
        **{label: label for label, values in labels.items() if any(values)},
    )
    left_out = [f"control classes left out, with no word in {name}: {', '.join(absent)}"] if absent else []
    about = announce((*words.notices, *coverage.notices(), *left_out))
    return replace(
        table,
        notices=(*about, *table.notices),
        source=words.source,
        control_sources=words.control_sources,
        coverage=coverage.to_frame(),
        provenance=MappingProxyType({"wordlist": words.name, "wordlist_sha256": words.sha256, "source": name}),
    )
