"""Combine tables of the same words, as a weighted sum or as replicates of one table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.linalg import helmert

from bayes_bias.arguments import check_kind, is_number
from bayes_bias.errors import TableError
from bayes_bias.formatting import counted, shortened
from bayes_bias.shared_types import Numbers
from bayes_bias.table.association_table import AssociationTable, announce, assemble, check_same_design, check_table
from bayes_bias.table.labels import SIDES, Side, absent_words, belongs, shared_words, words_of
from bayes_bias.table.replicates import EQUAL, StackedVectors, doubtful
from bayes_bias.table.replicates import combine as combine_values
from bayes_bias.table.texts import weighted_texts


def combine(
    tables: Mapping[Any, AssociationTable], weights: Mapping[Any, float] | Sequence[float], *, name: str | None = None
) -> AssociationTable:
    r"""Combine several tables of the same words into a weighted sum.

    Use this to analyse a contrast between embeddings or a trend over time as a single table,

    .. math:: y_{ij} = \sum_t L_t\, y_{ijt}.

    The bias of the result is the same weighted sum of the biases. If the weights sum to zero, anything that a word
    contributes equally to all tables cancels. For example, weights of -1 and 1 give the change that
    `bayes_bias.compare` models, and :math:`(x_t - \bar x) / \sum_t (x_t - \bar x)^2` gives the least-squares trend over
    times :math:`x_t`.

    Parameters
    ----------
    tables : mapping of names to AssociationTable
        Two or more tables of one list, for example in several embeddings or decades. Words that are missing from any
        table are dropped from all, with a notice. Related words, pairs and covariates are taken from the first.
    weights : mapping of the same names to numbers, or sequence
        :math:`L_t`. A table without a weight gets weight zero, but words that it lacks are still dropped.
    name : str, optional
        The name of the result. The default is the name of the first table.

    Returns
    -------
    AssociationTable
        Units: units of the tables times units of the weights. If all tables have the same labels of replicates,
        replicates are paired by their labels. If tables have different labels but the same number of replicates,
        replicates are paired by their order. Otherwise, the replicates of different tables are treated as independent.
        If R is the smallest number of replicates of a table, each table is then reduced to R replicates with the same
        mean. Their deviations are R - 1 separate orthonormal contrasts, scaled so that the estimate of the variance of
        the mean is unbiased.

    Raises
    ------
    TableError
        If there are fewer than two tables, if tables differ in stereotypes or in the measure of association, if a group
        or class has no word in common, if a weight is not finite or is for an unknown table, or if all weights are
        zero.

    Examples
    --------
    >>> tables = {year: cosines("weat6", f"word2vec-{year}.txt") for year in (1900, 1950)}      # doctest: +SKIP
    >>> fit(combine(tables, {1900: -1, 1950: 1}))                                               # doctest: +SKIP
    """
    weight_of = _checked_weights(tables, weights)
    shared = share_words(tables)
    parts = {label: shared[label] for label, weight in weight_of.items() if weight}
    combined = weighted_sum(parts, weight_of, name=name)
    return replace(combined, notices=(*combined.notices, *announce(unpaired(parts))))


def share_words[Label](
    tables: Mapping[Label, AssociationTable], argument: str = "tables"
) -> dict[Label, AssociationTable]:
    """Restrict tables to the words that all of them have, in the order of the first table.

    A control class without a common word is omitted from all tables, with a notice.

    Related words, pairs and covariates are taken from the first table, because vectors that were changed on purpose, as
    by debiasing, may not show which words are related. Notices of words that only some tables have are added to all
    tables. `argument` is the name of the argument with the tables, for messages.

    Raises
    ------
    TableError
        If metrics or stereotypes differ, a word has another group or class, or a group or an associated class has no
        word in common.
    """
    (first_label, first), *others = tables.items()
    for label, table in tables.items():
        check_table(table, f"{argument}[{label!r}]")
    for label, table in others:
        check_same_design(table, first, f"The table '{label}'", f"'{first_label}'")
    tables = _with_shared_controls(tables)
    values = {str(label): table.values for label, table in tables.items()}
    shared = shared_words(values, argument, "table")
    notices: list[str] = []
    for side in SIDES:
        notices += _notices_of_absent_words(values, shared[side], side)
    announce(tuple(notices))
    restricted: dict[Label, AssociationTable] = {}
    for label, table in tables.items():
        # The related words of the first table, and their notices, replace those of the other tables.
        own_notices = table.notices if label == first_label else _notices_without_related_words(table)
        selected = table.select(lambda matrix: matrix.sel(shared))
        restricted[label] = replace(selected, repeats=None, notices=(*own_notices, *notices))
    first = restricted[first_label]
    return {label: _with_labels_of(first, table) for label, table in restricted.items()}


def _notices_without_related_words(table: AssociationTable) -> tuple[str, ...]:
    """Return the notices of a table, except for those of its related words.

    A notice of related words begins with the name of the group or class and the text that describes its words.
    """
    if not table.has_related_words:
        return table.notices
    beginnings = tuple(f"{category}: {related.text}" for category, related in table.related_words.categories.items())
    return tuple(notice for notice in table.notices if not notice.startswith(beginnings))


def _with_shared_controls[Label](tables: Mapping[Label, AssociationTable]) -> dict[Label, AssociationTable]:
    """Omit control classes of which no word is in all tables, with a notice in each table.

    Embeddings may have different words of a control class, and comparisons need the same words. `word_sets` has the
    words of each control class, with a set for each table that has the class.
    """
    word_sets: dict[str, list[set[str]]] = {}
    for table in tables.values():
        class_of = belongs(table.values, "attribute")
        for control in table.controls:
            words = {word for word, class_name in class_of.items() if class_name == control}
            word_sets.setdefault(control, []).append(words)
    omitted, notices = [], []
    for control, sets in word_sets.items():
        is_in_all_tables = len(sets) == len(tables)
        if not is_in_all_tables or not set.intersection(*sets):
            omitted.append(control)
            notices.append(f"control class '{control}' is omitted, because the tables share no word of it")
    if not omitted:
        return dict(tables)
    announce(tuple(notices))
    remaining = {}
    for label, table in tables.items():
        remaining[label] = replace(table.without_classes(omitted), notices=(*table.notices, *notices))
    return remaining


def pair(before: AssociationTable, after: AssociationTable) -> tuple[AssociationTable, AssociationTable]:
    """Restrict two tables to the words that they share. See `share_words`."""
    check_table(before, "before")
    check_table(after, "after")
    first, second = share_words({"before": before, "after": after}, "after").values()
    return first, second


def difference(before: AssociationTable, after: AssociationTable) -> AssociationTable:
    """Subtract ``before`` from ``after``, value by value, and in each replicate if both have replicates.

    Raises
    ------
    TableError
        If no value differs by `EQUAL` or more, neither in the mean nor in a replicate.
    """
    change = combine({"before": before, "after": after}, (-1, 1))
    changes = (change, *change.singles().values())
    if all(np.nanmax(np.abs(table.values)) < EQUAL for table in changes):
        raise TableError(
            "`after` has the same values as `before`, so there is no change to estimate. Check whether you passed the"
            " same vectors twice."
        )
    return change


_TEXTS_LOST = "the variation over texts is not used, so texts are fixed, because only some of the tables contain it"


def weighted_sum(
    tables: Mapping[Any, AssociationTable], weights: Mapping[Any, float], *, name: str | None = None
) -> AssociationTable:
    """Combine tables as `combine` does, but assume that the tables already have the same words.

    `weights` has the weight of each table. Values, replicates, and deviations over texts are weighted sums. If only
    some tables contain the variation over texts, it is lost, with a notice. All labels come from the first table.
    """
    first = next(iter(tables.values()))
    texts = weighted_texts({label: table.texts for label, table in tables.items()}, weights)
    loses_texts = texts is None and any(table.texts is not None for table in tables.values())
    notices_of_texts = announce((_TEXTS_LOST,)) if loses_texts else ()
    weighted_values = [weights[label] * table.values.to_numpy() for label, table in tables.items()]
    weights_as_text = ", ".join(f"{label}: {weights[label]:g}" for label in tables)
    combined = assemble(
        np.sum(weighted_values, axis=0),
        belongs(first.values, "target"),
        belongs(first.values, "attribute"),
        first.stereotypes,
        opposites=first.opposites,
        replicates=_replicates(tables, weights),
        kind="" if first.replicates is None else first.replicates.kind,
        metric=first.metric.weighted([weights[label] for label in tables]),
        name=name or first.name,
        notices=(*_earlier_notices(tables), *notices_of_texts),
        source=first.source,
        control_sources=first.control_sources,
        provenance=MappingProxyType({"weights": weights_as_text}),
        texts=texts,
    )
    return _with_labels_of(first, combined)


def _earlier_notices(tables: Mapping[Any, AssociationTable]) -> tuple[str, ...]:
    """Return the notices of all tables, each once."""
    notices = chain.from_iterable(table.notices for table in tables.values())
    return tuple(dict.fromkeys(notices))


def _checked_weights(tables: Any, weights: Any) -> dict[Any, float]:
    """Return the weight of each table, zero by default, or raise an error if a table or weight is not valid.

    `tables` must be a mapping of names to two or more tables. `weights` is a mapping of some of these names to numbers,
    or a sequence with a number for each table. At least one weight must differ from zero.
    """
    problem = "not a mapping of names to tables. Pass {1900: table, 1910: another}."
    check_kind("tables", tables, Mapping, problem, TableError)
    if len(tables) < 2:
        raise TableError(f"`tables` must contain at least two tables, but contains {len(tables)}. Add another one.")
    if not isinstance(weights, Mapping):
        problem = "not a list of numbers. Pass one for each table."
        check_kind("weights", weights, Sequence | np.ndarray, problem, TableError)
        if len(weights) != len(tables):
            raise TableError(
                f"`weights` must have one number for each of the {len(tables)} tables, but has {len(weights)}. Add or"
                " remove some."
            )
        weights = dict(zip(tables, weights, strict=True))
    for label, weight in weights.items():
        if label not in tables:
            raise TableError(
                f"`weights` has an entry {label!r}, but no table has this name. Use the names in `tables`:"
                f" {', '.join(map(str, tables))}."
            )
        if not is_number(weight):
            raise TableError(
                f"The weight of {label!r} in `weights` must be a finite number, but is {weight!r}. Correct it."
            )
    if not any(weights.values()):
        raise TableError("All `weights` are zero. Set at least one to another number.")
    return {label: float(weights.get(label, 0.0)) for label in tables}


# Replicates.


def _replicates(tables: Mapping[Any, AssociationTable], weights: Mapping[Any, float]) -> dict[str, Numbers]:
    """Compute the weighted sum in each replicate. Return an empty mapping if a table has no replicates.

    The result has the labels of the table with the fewest replicates. Replicates with the same labels in two tables are
    paired. Otherwise, they are independent, and the number of replicates of each table is reduced to the fewest.
    """
    fewest_labels = min(map(_replicate_labels, tables.values()), key=len)
    if not fewest_labels:
        return {}
    weighted = []
    for name, table in tables.items():
        assert table.replicates is not None
        values = np.array([single.to_numpy() for single in table.replicates.tables.values()])  # (replicates, ...)
        labels = _replicate_labels(table)
        if set(labels) == set(fewest_labels):
            order = [labels.index(label) for label in fewest_labels]
            values = values[order]
        elif len(values) > len(fewest_labels):
            values = _fewer_replicates(values, len(fewest_labels))
        weighted.append(weights[name] * values)
    return dict(zip(fewest_labels, np.sum(weighted, axis=0), strict=True))


def _fewer_replicates(values: Numbers, number: int) -> Numbers:
    r"""Reduce the values of R replicates, (replicate, target, attribute), to a smaller number r of replicates.

    The mean is the same. The deviations from it are r - 1 orthonormal contrasts of all replicates (Helmert contrasts),
    transformed to r deviations that sum to zero, and multiplied by :math:`\sqrt{r / R}`, so that the variance of the
    mean has the same expectation.
    """
    contrasts = np.tensordot(helmert(len(values))[: number - 1], values, axes=1)
    deviations = np.tensordot(helmert(number).T, contrasts, axes=1)
    return np.asarray(values.mean(axis=0) + np.sqrt(number / len(values)) * deviations)


def _replicate_labels(table: AssociationTable) -> list[str]:
    return [] if table.replicates is None else list(table.replicates.labels)


def unpaired(tables: Mapping[Any, AssociationTable]) -> tuple[str, ...]:
    """Return a notice if tables have different numbers of replicates, so that replicates cannot be paired.

    If some tables have none, the combined table has no replicates. Otherwise, it has as few as the table with the
    fewest. `kind` is the noun for a replicate, such as "template".
    """
    n_replicates = {label: len(_replicate_labels(table)) for label, table in tables.items()}
    if len({*n_replicates.values()}) == 1:
        return ()
    kind = next(table.replicates.kind for table in tables.values() if table.replicates is not None)
    counts = ", ".join(f"{label}: {number or 'none'}" for label, number in n_replicates.items())
    if not all(n_replicates.values()):
        return (
            f"not every table has replicates ({counts}), so it is unknown how much a new {kind} would change the"
            " result. The combined table contains only the means",
        )
    return (
        f"replicates cannot be paired because tables have different numbers of them ({counts}). They are treated as"
        f" independent, and {min(n_replicates.values())} of each table are used to estimate how much they differ",
    )


# Words.


def _with_labels_of(first: AssociationTable, second: AssociationTable) -> AssociationTable:
    """Return the second table with the groups, related words, pairs and covariates of the first.

    A table stores all of these as coordinates of its matrices. The second table keeps its own expected preferences of
    related words, which have the units of their table, and the directions that belong to these, or NaN if it has none.
    """
    labels = dict(first.values.coords)
    for side in SIDES:
        for name in (f"{side}_preference_sd", f"{side}_directions"):
            if name in labels:
                unknown = np.nan * first.values[name]
                labels[name] = second.values.coords.get(name, unknown)

    def relabelled(values: xr.DataArray) -> xr.DataArray:
        return values.drop_vars(values.coords.keys() - labels.keys()).assign_coords(labels)

    return second.select(relabelled)


def _notices_of_absent_words(tables: Mapping[str, xr.DataArray], shared: Sequence[str], dim: Side) -> list[str]:
    """Return a notice for each table that lacks words of one side (`dim`) which another table has.

    `shared` are the words that all tables have.
    """
    absent = absent_words(tables, shared, dim)
    notices = []
    for label, values in tables.items():
        present = set(words_of(values, dim))
        lacked = [word for word in absent if word not in present]
        if lacked:
            notices.append(f"'{label}' lacks {counted(len(lacked), dim)}, omitted from all tables: {shortened(lacked)}")
    return notices


# Combination of several tables of one list into one table with replicates.


def combine_replicates(
    tables: Mapping[str, AssociationTable], kind: str = "replicate", *, name: str | None = None
) -> AssociationTable:
    """Combine tables of the same words in several templates, training runs or corpora.

    Parameters
    ----------
    tables : mapping of str to AssociationTable
        Two or more complete tables of one list and one metric, by the labels of replicates.
    kind : str
        Noun for a replicate, in the singular, such as "template", "seed", or "corpus".
    name : str, optional
        The name of the table. The default is the name of the first one.

    Returns
    -------
    AssociationTable
        A table of the words that all tables have, with a notice about the others. ``values`` contains the means, and
        ``replicates`` the single tables. ``vectors`` is None unless all tables have vectors of the same length.

    Raises
    ------
    TableError
        If there are fewer than two tables, if tables differ in stereotypes or in the measure of association, if a table
        already has replicates or repeated pairs, if a word is in different groups or classes, if a group or class has
        no word in common, or if a pair is missing.

    Examples
    --------
    >>> from bayes_bias import cosines
    >>> tables = {f"seed {n}": cosines("weat6", f"word2vec-{n}.txt") for n in range(5)}        # doctest: +SKIP
    >>> combine_replicates(tables, kind="seed")                                                     # doctest: +SKIP
    """
    problem = "not a mapping of names to tables. Pass {'seed 1': table, 'seed 2': another}."
    check_kind("tables", tables, Mapping, problem, TableError)
    first_label = next(iter(tables), "")
    for label, table in tables.items():
        check_table(table, f"tables['{label}']")
        if table.replicates is not None:
            raise TableError(
                f"The table '{label}' in `tables` has replicates itself. Pass the tables of single replicates instead."
            )
        if table.repeats is not None:
            raise TableError(f"The table '{label}' in `tables` repeats pairs. Make it with `duplicates='drop'`.")
        check_same_design(table, tables[first_label], f"The table '{label}'", f"'{first_label}'")
    replicates, absence_notices = combine_values({label: table.values for label, table in tables.items()}, kind)
    first = next(iter(tables.values()))
    mean = replicates.mean()
    notices = announce((*absence_notices, *doubtful(replicates), *_about_texts(tables)))
    return replace(
        first,
        values=mean,
        replicates=replicates,
        vectors=_stacked_vectors(tables.values(), str(mean.target.values[0])),
        lengths=_stacked_lengths(tables.values()),
        name=name or first.name,
        origin=None,
        texts=None,
        notices=(*_earlier_notices(tables), *notices),
        provenance=MappingProxyType({**first.provenance, "replicates": ", ".join(replicates.labels)}),
    )


def _about_texts(tables: Mapping[str, AssociationTable]) -> tuple[str, ...]:
    """Return a notice if tables contain the variation over texts, which a table with replicates does not use."""
    if all(table.texts is None for table in tables.values()):
        return ()
    return (
        "the variation over texts is not used in a table with replicates, because replicates from different texts"
        " already vary with them. Parts of one corpus are not replicates: their vectors come from fewer contexts, which"
        " shrinks the bias. Use the table of the whole corpus instead",
    )


def _stacked_vectors(tables: Iterable[AssociationTable], word: str) -> StackedVectors | None:
    """Stack the vectors of all tables, or return None if a table has no vectors or vectors of another dimension.

    The dimensions are compared by the vectors of one `word`.
    """
    vectors, shapes = [], set()
    for table in tables:
        if table.vectors is None:
            return None
        vectors.append(table.vectors)
        shapes.add(np.shape(table.vectors[word]) if word in table.vectors else None)
    return StackedVectors(tuple(vectors)) if len(shapes) == 1 else None


def _stacked_lengths(tables: Iterable[AssociationTable]) -> Mapping[str, NDArray[np.float64]] | None:
    """Stack the original lengths of vectors, for the words whose lengths are known in all tables.

    The result is None if no table knows any lengths.
    """
    lengths_of_tables = [table.lengths for table in tables]
    if all(lengths is None for lengths in lengths_of_tables):
        return None
    lengths_of_word: dict[str, list[NDArray[np.float64]]] = {}
    for length_of in lengths_of_tables:
        for word, length in (length_of or {}).items():
            lengths_of_word.setdefault(word, []).append(length)
    n_tables = len(lengths_of_tables)
    return MappingProxyType({word: np.stack(each) for word, each in lengths_of_word.items() if len(each) == n_tables})
