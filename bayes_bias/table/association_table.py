"""The data: a labelled table of targets x attributes, its design, and the vectors from which it was computed."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayes_bias.arguments import check_kind, is_number
from bayes_bias.embeddings.word_vectors import OriginalVectors, Vectors
from bayes_bias.errors import TableError
from bayes_bias.formatting import WORD, Telling, shortened
from bayes_bias.shared_types import Reference
from bayes_bias.table.covariates import Covariates, covariates_in, groups_apart, with_covariates
from bayes_bias.table.from_frames import WORDS, Duplicates, matrices, split_replicates, tidied, without_groups
from bayes_bias.table.labels import SIDES, Side, all_words, belongs, labelled, labels_in, settled
from bayes_bias.table.metric import COSINE, Metric
from bayes_bias.table.origin import Origin
from bayes_bias.table.related_words import (
    COLUMNS,
    Products,
    Related,
    RelatedWords,
    has_related_words,
    related_coordinates,
    related_words,
)
from bayes_bias.table.replicates import Replicates, ReplicateVectors, combine, doubtful
from bayes_bias.table.texts import Texts
from bayes_bias.words.spelling import grouped
from bayes_bias.words.wordlist import WordList

# From this ratio of sizes on, few words in a small group cannot show that the group varies more than others.
UNEVEN = 3
# False-positive rates of the posterior and of the quasi-F: docs/evidence/false-positives.md.
_OF_UNEVEN = {"group": ("7%", "7%"), "class": ("9%", "5%")}
# A cosine this close to 1 is 1 up to rounding, and the number of such pairs that a notice names.
_SAME, _NAMED = 1e-9, 5

logger = logging.getLogger("bayes_bias")


@dataclass(frozen=True, eq=False, repr=False)
class AssociationTable(Telling):
    """Associations of target and attribute words, with their design.

    `bayes_bias.cosines` makes this table from vectors, and `from_frame` makes it from a data frame. All models and
    measures use this table.

    Attributes
    ----------
    values : xarray.DataArray
        The numbers, dims ``(target, attribute)``, with coordinates ``group (target)`` and ``attribute_class
        (attribute)``. A missing pair is NaN. Lists with topics or pairs add ``target_topic``, ``target_pair``,
        ``attribute_topic`` and ``attribute_pair``, "" for a word in none. Topics belong to a group or class, and the
        two words of a pair share a label such as "he/she". Values of very long lists are formed on demand, see
        `bayes_bias.table.related_words.Products`. With replicates, these are the means.
    stereotypes : mapping of str to str
        The class that is stereotypical for each group: the two are *associated*.
    opposites : tuple of str
        Further classes that are compared with the associated classes. At least one opposite is required if there is a
        single group, or if all groups have the same class. All remaining classes are controls.
    metric : Metric
        The measure of association, with its units. The default is the cosine.
    name : str
        The name of the data in tables and files.
    replicates : Replicates or None
        The tables of single templates or training runs. See `bayes_bias.combine_replicates`.
    repeats : xarray.DataArray or None
        How often the source lists each pair (``duplicates="keep"``). Only the hierarchical model uses it.
    notices : tuple of str
        Omissions and doubts so far, in sentences.
    source : Reference
        Publication of the word list.
    control_sources : tuple of Reference
        Publications of the control classes.
    provenance : mapping of str to str
        Origin of the numbers (hashes, names of list and embedding).
    coverage : pandas.DataFrame or None
        Words found and missing in the embedding, by group and class. None for numbers from a frame.
    vectors : mapping of str to array, or None
        The vectors of the words, shape (d,) for each. With R replicates the shape is (R, d), and
        vectors are divided by the root of R, so that the sum of products over both axes is a mean over replicates.
        None for a table from a frame, unless `with_vectors` adds some.
    lengths : mapping of str to array, or None
        Original length of each vector, if vectors were brought to unit length: a number for each word, or one for each
        replicate. None if vectors have their original lengths. See `original_vectors`.
    origin : Origin or None
        The list, the embedding and the settings that the table was measured with. Random lists and related words are
        taken from there. None for numbers from elsewhere, and for tables whose words differ from the list. The origin
        is not part of `sha256`.
    texts : Texts or None
        The covariance of the values over texts, from `bayes_bias.from_texts`. None if the texts behind the vectors are
        unknown, and are therefore treated as fixed.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "target": ["he", "he", "she", "she"], "group": ["man", "man", "woman", "woman"],
    ...     "attribute": ["boss", "maid"] * 2, "attribute_class": ["work", "home"] * 2,
    ...     "cosine": [0.4, 0.1, 0.2, 0.3]})
    >>> table = AssociationTable.from_frame(
    ...     frame, target="target", group="group", attribute="attribute",
    ...     attribute_class="attribute_class", value="cosine", stereotypes={"man": "work", "woman": "home"})
    >>> table.values.sel(target="he", attribute="boss").item()
    0.4
    """

    values: xr.DataArray
    stereotypes: Mapping[str, str]
    opposites: tuple[str, ...] = ()
    metric: Metric = COSINE
    name: str = "table"
    replicates: Replicates | None = None
    repeats: xr.DataArray | None = None
    notices: tuple[str, ...] = ()
    source: Reference = Reference()
    control_sources: tuple[Reference, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    coverage: pd.DataFrame | None = None
    vectors: Vectors | None = None
    lengths: Mapping[str, NDArray[np.float64]] | None = None
    origin: Origin | None = None
    texts: Texts | None = None

    @property
    def text(self) -> str:
        """Describe the table by its name, size, measure of association, and design."""
        targets, attributes = self.values.shape
        controls = f"; controls {', '.join(self.controls)}" if self.controls else ""
        size = f"{targets:,} targets x {attributes:,} attributes"
        if self.replicates is not None:
            size += f" x {self.replicates.text}"
        if self.texts is not None:
            size += f" in {self.texts.text}"
        return f"{self.name}, {size}, {self.metric.plural}; {self.design}{controls}"

    @property
    def design(self) -> str:
        """Describe the class of each group, and the opposite classes."""
        pairs = ", ".join(f"{group} = {c}" for group, c in self.stereotypes.items())
        return pairs + (f" against {', '.join(self.opposites)}" if self.opposites else "")

    @property
    def references(self) -> tuple[Reference, ...]:
        """Sources of the words, each once."""
        return tuple(dict.fromkeys(r for r in (self.source, *self.control_sources) if r.citation))

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of targets, in the order of the stereotypes."""
        return tuple(self.stereotypes)

    @property
    def associated_classes(self) -> tuple[str, ...]:
        """Classes that are stereotypical for a group, and their opposites."""
        return tuple(dict.fromkeys((*self.stereotypes.values(), *self.opposites)))

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """All other classes."""
        associated = self.associated_classes
        classes = dict.fromkeys(self.values.attribute_class.to_numpy().tolist())
        return tuple(name for name in classes if name not in associated)

    @property
    def classes(self) -> tuple[str, ...]:
        """All attribute classes: the associated ones first, then the controls."""
        return self.associated_classes + self.controls

    @cached_property
    def group_index(self) -> np.ndarray:
        """Position of each target's group in `groups`, shape (targets,)."""
        return _positions(self.values.group.to_numpy(), self.groups)

    @cached_property
    def class_index(self) -> np.ndarray:
        """Position of each attribute's class in `classes`, shape (attributes,)."""
        return _positions(self.values.attribute_class.to_numpy(), self.classes)

    @cached_property
    def words_by_category(self) -> Mapping[Side, Mapping[str, list[str]]]:
        """The words of each group ("target") and of each class ("attribute"), in the order of the table."""
        category_of = {side: belongs(self.values, side) for side in SIDES}
        return {side: grouped(categories, categories.__getitem__) for side, categories in category_of.items()}

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the words: ``target_topic``, ``target_pair``, ``attribute_topic`` and ``attribute_pair``."""
        return tuple(labels_in(self.values.coords))

    @property
    def is_formed(self) -> bool:
        """True if the values are in memory, and not kept as products of vectors."""
        return not isinstance(self.values.data, Products)

    @property
    def is_complete(self) -> bool:
        """True if every target has a value with every attribute."""
        return not self.is_formed or not np.isnan(self.values.to_numpy()).any()

    @property
    def sha256(self) -> str:
        """Hash of words, design and values (of vectors, if values are not formed).

        Two tables with the same hash give the same numbers. Everything that affects a number is hashed in a fixed order
        and, for numbers, as little-endian bytes. Words are separated by control characters. Optional parts are hashed
        only if the table has them, so that a new kind of part does not change the hashes of other tables.
        """
        digest = hashlib.sha256()
        for column in (*WORDS, *self.labels):
            digest.update("\x1f".join(self.values[column].to_numpy().tolist()).encode() + b"\x1e")
        digest.update(repr(sorted(self.stereotypes.items())).encode())
        digest.update(repr(self.opposites).encode() if self.opposites else b"")
        tables = {"": self.values} if self.replicates is None else self.replicates.tables
        for label, table in tables.items():
            digest.update(label.encode())
            values = table.data
            arrays = (values.targets, values.attributes) if isinstance(values, Products) else (values,)
            for array in arrays:
                digest.update(np.ascontiguousarray(array, dtype="<f8"))
        if self.has_related_words:
            for side, column in product(SIDES, COLUMNS):
                digest.update(np.ascontiguousarray(self.values[f"{side}_{column}"], dtype="<f8"))
        if self.covariates:
            for side in SIDES:
                digest.update(covariates_in(self.values, side).to_csv().encode())
        if self.repeats is not None:
            digest.update(np.ascontiguousarray(self.repeats.to_numpy(), dtype="<i8").tobytes())
        if self.texts is not None:
            digest.update(np.ascontiguousarray(self.texts.stacked, dtype="<f8").tobytes())
        return digest.hexdigest()

    @property
    def title(self) -> str:
        """The title of the word list in headings, or the name of the table if the list is not known."""
        return self.name if self.origin is None else self.origin.wordlist.title

    @property
    def unit(self) -> str:
        """The noun for targets and attributes on pages, such as "word" or "image", if the list is known."""
        return WORD if self.origin is None else self.origin.wordlist.unit

    def without_controls(self) -> Self:
        """Return the table without control classes, as WEAT uses it."""
        return self.without_classes(self.controls)

    def without_classes(self, classes: Sequence[str]) -> Self:
        """Return the table without some classes."""
        if not classes:
            return self
        keep = ~np.isin(self.values.attribute_class.to_numpy(), classes)
        return self.select(lambda values: values[:, keep])

    def select(self, choose: Callable[[xr.DataArray], xr.DataArray]) -> Self:
        """Return the table with only the words that `choose` keeps in a matrix ``(target, attribute)``.

        The function is applied to all matrices of the table: values, replicates, repeats (the number of times that the
        source has each pair), and deviations over texts. Labels that no remaining word has are removed (`settled`). The
        origin, from which the table can be measured again, is kept only if no word is dropped.
        """

        def chosen(matrix: xr.DataArray) -> xr.DataArray:
            return settled(choose(matrix))

        values = chosen(self.values)
        return replace(
            self,
            values=values,
            origin=self.origin if all_words(values) == all_words(self.values) else None,
            replicates=None if self.replicates is None else self.replicates.select(chosen),
            repeats=None if self.repeats is None else chosen(self.repeats),
            texts=None if self.texts is None else self.texts.select(chosen),
        )

    def with_vectors(self, vectors: Vectors) -> Self:
        """Return the table with vectors of its words, for measures that need vectors.

        A table from `bayes_bias.cosines` already contains vectors. For measures that depend on the lengths of vectors,
        such as RIPA, pass the original vectors, not unit vectors.

        Parameters
        ----------
        vectors : mapping of str to array
            A vector for each word, gensim's KeyedVectors, or any object with ``word in vectors`` and
            ``vectors[word]``. Measures raise an error that names the missing words.

        Raises
        ------
        TableError
            If a vector does not have one axis or, in a table with replicates, the two axes (replicate, dimension).

        Examples
        --------
        >>> table = AssociationTable.from_arrays(
        ...     [[0.6, 0.8]], targets={"he": "man"}, attributes={"boss": "work", "maid": "home"},
        ...     stereotypes={"man": "work"})
        >>> table = table.with_vectors({"he": [1.0, 0.0], "boss": [0.6, 0.8], "maid": [0.8, 0.6]})
        >>> table.vectors["boss"]
        [0.6, 0.8]
        """
        leading_shape: tuple[int, ...] = ()
        expected, unit = "(d,)", "word"
        if self.replicates is not None:
            leading_shape = (len(self.replicates.tables),)
            expected, unit = f"({len(self.replicates.tables)}, d)", "word and replicate"
        for word in all_words(self.values):
            if word in vectors and np.shape(vectors[word])[:-1] != leading_shape:
                raise TableError(
                    f"`vectors` must have the shape {expected} in this table, but the vector of '{word}' has the shape"
                    f" {np.shape(vectors[word])}. Pass one vector for each {unit}."
                )
        read_only = MappingProxyType(vectors) if isinstance(vectors, Mapping) else vectors
        return replace(self, vectors=read_only, lengths=None)

    @property
    def original_vectors(self) -> Vectors | None:
        """Vectors of the words at their original lengths, or None if the table has no vectors.

        A word whose length is unknown is omitted.
        """
        if self.vectors is None or self.lengths is None:
            return self.vectors
        return OriginalVectors(self.vectors, self.lengths)

    def with_related_words(self, related: Mapping[str, Related]) -> Self:
        """Return the table with related words in its groups and classes, for example as found in other vectors.

        Parameters
        ----------
        related : mapping of str to Related
            Related words of groups and classes, by name. Words of all other groups and classes are treated as
            independent.

        Raises
        ------
        TableError
            If a group or class is not in the table, has other words in the table, or has an inflation below one.

        Examples
        --------
        >>> from bayes_bias import cosines
        >>> table = cosines("weat7", "googlenews-demo", ())
        >>> independent = table.with_related_words({})
        >>> independent.related_words.reduced
        {}
        """
        categories = (*self.groups, *self.classes)
        for category, words in related.items():
            _check_known("related", category, categories)
            if not (is_number(words.inflation) and words.inflation >= 1):
                raise TableError(
                    f"The inflation of '{category}' in `related` must be 1 or more, but is {words.inflation!r}. Use 1"
                    " for independent words."
                )
            words_in_table = {word for side in SIDES for word in self.words_by_category[side].get(category, ())}
            differing = sorted(words_in_table ^ set(words.words))  # in the table or in `related`, but not in both
            if differing:
                raise TableError(
                    f"'{category}' in `related` must have the same words as in the table. These words are in only one"
                    f" of them: {shortened(differing, 5)}. Correct the words."
                )
        coordinates = [related_coordinates(self.values, side, related) for side in SIDES]
        return replace(self, values=self.values.assign_coords(coordinates[0] | coordinates[1]))

    def with_covariates(self, covariates: Covariates) -> Self:
        """Return the table with covariates, such as word frequency, for which `fit` then adjusts.

        Parameters
        ----------
        covariates : DataFrame, Series or mapping
            A number for each word: columns of a frame that is indexed by word, ``{word: number}``, or a mapping with
            one of these for "target" and for "attribute". If some words of a side have a number, all words of that side
            need one, except attributes of control classes. Words that are not in the table are ignored.

        Raises
        ------
        TableError
            If a word has no finite number, if no word is in the table, if a covariate is constant, differs only between
            groups (or classes), or repeats another one, or if there are too few words.

        Examples
        --------
        >>> from bayes_bias import cosines
        >>> table = cosines("weat6", "googlenews-demo", controls=())
        >>> letters = {word: len(word) for word in table.values.target.to_numpy().tolist()}
        >>> table.with_covariates(letters).covariates
        {'target': ['covariate']}
        """
        values = with_covariates(self.values, covariates, self.associated_classes)
        notices = announce(tuple(f"{self.name}: {sentence}" for sentence in groups_apart(values)))
        return replace(self, values=values, notices=(*self.notices, *notices))

    @property
    def covariates(self) -> dict[str, list[str]]:
        """Names of the covariates of each side that has some."""
        names_of_side = {side: list(covariates_in(self.values, side)) for side in SIDES}
        return {side: names for side, names in names_of_side.items() if names}

    @property
    def related_words(self) -> RelatedWords:
        """Related words of each group and class, as found in the vectors of a table from `cosines`.

        Raises
        ------
        TableError
            If the table does not contain them.

        Examples
        --------
        >>> from bayes_bias import cosines
        >>> table = cosines("weat7", "googlenews-demo", ())
        >>> round(table.related_words.groups["math"].effective)
        4
        """
        if not self.has_related_words:
            raise TableError(
                f"The table '{self.name}' does not contain related words. Make it with `cosines(...,"
                " sub_topics='from vectors')`."
            )
        return related_words(self.values)

    @property
    def has_related_words(self) -> bool:
        """True if the table contains related words."""
        return has_related_words(self.values, "target") or has_related_words(self.values, "attribute")

    def singles(self) -> dict[str, Self]:
        """Return the tables of single replicates by their labels; empty if there are none.

        A replicate is a repeated measurement of all words, such as a template. Each table has the values, vectors, and
        original lengths of vectors of its replicate, and otherwise the same words and labels. `vectors` and `lengths`
        of this table have an array for each word, with a row or number for each replicate.
        """
        singles: dict[str, Self] = {}
        if self.replicates is None:
            return singles
        without_values = replace(self, replicates=None, notices=(), coverage=None, origin=None)
        for position, (label, values) in enumerate(self.replicates.tables.items()):
            vectors = None if self.vectors is None else ReplicateVectors(self.vectors, position)
            lengths = None
            if self.lengths is not None:
                lengths = {word: length_in[position] for word, length_in in self.lengths.items()}
            singles[label] = replace(without_values, values=values, vectors=vectors, lengths=lengths)
        return singles

    def block(self, group: str, attribute_class: str) -> np.ndarray:
        """Return values of one group's targets with one class's attributes, shape (targets, attributes)."""
        _check_known("group", group, self.groups)
        _check_known("attribute_class", attribute_class, self.classes)
        rows = self.values.group.to_numpy() == group
        columns = self.values.attribute_class.to_numpy() == attribute_class
        return self.values.to_numpy()[np.ix_(rows, columns)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each pair: target, group, attribute, attribute_class, `labels`, and the value by its name.

        `from_frame` reads the frame. Pairs appear as often as the source lists them. With replicates, each pair has a
        row for each replicate, and the first column is named after their kind.
        """
        if self.replicates is not None:
            frames = {label: single.to_frame() for label, single in self.singles().items()}
            stacked = pd.concat(frames, names=[self.replicates.kind])
            # The labels of replicates, the outer level of the index, become the first column.
            return stacked.reset_index(level=0).reset_index(drop=True)
        value = self.metric.name
        frame = self.values.rename(value).to_dataframe().reset_index()
        if self.repeats is not None:
            n_repeats = self.repeats.to_numpy().ravel()  # how often the source lists each pair
            frame = frame.loc[frame.index.repeat(n_repeats)]
        columns = [*WORDS, *self.labels, value]
        return frame.dropna(subset=value)[columns].reset_index(drop=True)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        target: str,
        group: str | Mapping[str, str],
        attribute: str,
        attribute_class: str,
        value: str,
        stereotypes: Mapping[str, str | None],
        opposites: Sequence[str] | None = None,
        metric: Metric = COSINE,
        duplicates: Duplicates = "drop",
        name: str = "table",
        target_topic: str | None = None,
        target_pair: str | None = None,
        attribute_topic: str | None = None,
        attribute_pair: str | None = None,
        replicate: str | None = None,
        kind: str | None = None,
    ) -> Self:
        """Make a table from a tidy frame with one row for each pair of a target and an attribute (and replicate).

        Parameters
        ----------
        frame : pandas.DataFrame
            The table, which is not changed.
        target, attribute, attribute_class, value : str
            Names of the columns. The value of a cosine is the *similarity*, in [-1, 1]. Values of which larger ones
            mean farther apart, such as distances, need ``metric=Metric(..., larger="farther")``.
        group : str or mapping of str to str
            The column with each target's group, or a mapping from target to group.
        stereotypes : mapping of str to str
            The class that is stereotypical for each group, or None to omit a group. Other classes are controls, unless
            they are `opposites`.
        opposites : sequence of str, optional
            Further classes to compare. The default is none, or all others if all groups have the same class.
        metric, name
            See `AssociationTable`.
        duplicates : {"drop", "keep"}
            How to treat repeated pairs. "drop" keeps a repeated pair once, with a notice. "keep" counts the pair as
            often as it is listed, which only the hierarchical model supports, in order to reproduce its paper.
        target_topic, target_pair, attribute_topic, attribute_pair : str, optional
            Columns with the sub-topic of each word, and with a label that the two words of a matched pair share. A cell
            is empty if the word has no sub-topic or pair.
        replicate : str, optional
            The column with the replicate of each value, such as its template or seed.
        kind : str, optional
            Noun for a replicate, in the singular. The default is the name of the column `replicate`.

        Raises
        ------
        TableError
            If a column is missing, a value is out of range, larger values mean farther apart although `metric` does not
            say so, a word is in two groups, classes, topics or pairs, one pair has two values, a group has no
            stereotypical class, or a matched pair has more than two words, or two in one group or class. If there is
            only one replicate, a replicate lacks a pair, or repeated pairs are to be kept in replicates.
        """
        columns = {"target": target, "attribute": attribute, "attribute_class": attribute_class, "value": value}
        labels = {
            "target_topic": target_topic,
            "target_pair": target_pair,
            "attribute_topic": attribute_topic,
            "attribute_pair": attribute_pair,
        }
        columns |= {label: column for label, column in labels.items() if column is not None}
        metric.check_direction(value)
        if replicate is not None and duplicates == "keep":
            raise TableError(
                "`duplicates='keep'` cannot be combined with replicates. Use 'drop', or omit the column of replicates."
            )
        class_of = {group_name: name for group_name, name in stereotypes.items() if name is not None}
        opposite_classes = _opposite_classes(frame, attribute_class, class_of, opposites)
        notices: list[str] = []
        if omitted := [name for name in stereotypes if name not in class_of]:
            notices.append(f"omitted because no class is stereotypical for them: {', '.join(map(str, omitted))}")
        frames = {"": frame} if replicate is None else split_replicates(frame, replicate)
        values_of: dict[str, xr.DataArray] = {}
        for label, rows in frames.items():
            tidy = without_groups(tidied(rows, columns, group), stereotypes)
            values, repeats, frame_notices = matrices(tidy, class_of, opposite_classes, metric, duplicates)
            values_of[label] = values
            notices += frame_notices
        notices = [*metric.about_direction, *dict.fromkeys(notices)]
        metric = metric.of_closeness
        values = next(iter(values_of.values()))
        notices += _about_equal_vectors(values, metric)
        replicates = None
        if replicate is not None:
            replicates, absence_notices = combine(values_of, kind or replicate)
            values = replicates.mean()
            notices += absence_notices
        table = cls(
            values=values,
            stereotypes=MappingProxyType(class_of),
            opposites=opposite_classes,
            metric=metric,
            name=name,
            replicates=replicates,
            repeats=None if replicate is not None else repeats,
            notices=tuple(notices),
            provenance=MappingProxyType({"source": f"table of {metric.plural}"}),
        )
        _check_classes(table)
        return with_notices(table)

    @classmethod
    def from_arrays(
        cls,
        values: ArrayLike,
        *,
        targets: Mapping[str, str],
        attributes: Mapping[str, str],
        stereotypes: Mapping[str, str],
        opposites: Sequence[str] | None = None,
        replicates: Sequence[str] = (),
        kind: str = "replicate",
        metric: Metric = COSINE,
        name: str = "table",
    ) -> Self:
        """Make a table from an array with one row for each target and one column for each attribute.

        Parameters
        ----------
        values : array (targets, attributes) or (replicates, targets, attributes)
            Missing pairs are NaN. Replicates must be complete.
        targets, attributes : mapping of str to str
            The group of each target, and the class of each attribute, in the order of the array.
        stereotypes, opposites, metric, name, kind
            See `from_frame`.
        replicates : sequence of str
            The labels of the replicates, for an array of three dimensions.

        Raises
        ------
        TableError
            If the array has another shape. See also `from_frame`.

        Examples
        --------
        >>> table = AssociationTable.from_arrays(
        ...     [[0.4, 0.1], [0.2, 0.3]], targets={"he": "man", "she": "woman"},
        ...     attributes={"boss": "work", "maid": "home"}, stereotypes={"man": "work", "woman": "home"})
        >>> table.values.sel(target="she", attribute="maid").item()
        0.3
        """
        for label in replicates:
            if list(replicates).count(label) > 1:
                raise TableError(f"`replicates` contains '{label}' more than once. Give each replicate its own label.")
        array = np.asarray(values, dtype=float)
        shape: tuple[int, ...] = (len(targets), len(attributes))
        names = "(targets, attributes)"
        if replicates:
            shape = (len(replicates), *shape)
            names = "(replicates, targets, attributes)"
        if array.shape != shape:
            raise TableError(
                f"`values` must have the shape {names} = {shape}, but has the shape {array.shape}. Pass words and"
                " labels in the order of the array."
            )
        index = pd.MultiIndex.from_product(
            [list(replicates) or [""], list(targets), list(attributes)], names=[kind, "target", "attribute"]
        )
        frame = pd.DataFrame({"value": array.ravel()}, index=index).reset_index().dropna(subset="value")
        return cls.from_frame(
            frame.assign(attribute_class=frame.attribute.map(dict(attributes))),
            target="target",
            group=targets,
            attribute="attribute",
            attribute_class="attribute_class",
            value="value",
            stereotypes=stereotypes,
            opposites=opposites,
            metric=metric,
            name=name,
            replicate=kind if replicates else None,
        )


def check_table(table: Any, name: str = "table") -> None:
    """Raise an error if a value is not a table."""
    problem = "not a table. Pass the result of `bayes_bias.cosines` or `AssociationTable.from_frame`."
    check_kind(name, table, AssociationTable, problem, TableError)


def check_same_design(table: AssociationTable, reference: AssociationTable, name: str, reference_name: str) -> None:
    """Raise an error if two tables, called by these names, differ in metric or stereotypes.

    The stereotypes are the class with which each group is associated, and the opposites are further classes to compare
    with. `design` describes both in messages.
    """
    if table.metric != reference.metric:
        raise TableError(
            f"{name} contains {table.metric.plural}, but {reference_name} contains {reference.metric.plural}. Measure"
            " the same association in all tables."
        )
    if dict(table.stereotypes) != dict(reference.stereotypes) or table.opposites != reference.opposites:
        raise TableError(
            f"{name} has other stereotypes ({table.design}) than {reference_name} ({reference.design}). Measure the"
            " same list in all tables."
        )


def with_notices[Table: AssociationTable](table: Table) -> Table:
    """Log these notices of a table, and return the table with the notices added."""
    about_replicates = () if table.replicates is None else doubtful(table.replicates)
    return replace(table, notices=announce((*table.notices, *about_replicates, *uneven(table))))


def announce(notices: tuple[str, ...], level: int = logging.WARNING) -> tuple[str, ...]:
    """Log notices, and return them to be kept with the data."""
    for notice in notices:
        logger.log(level, notice)
    return notices


def uneven(table: AssociationTable) -> tuple[str, ...]:
    """Return notices of groups or associated classes, if the largest has `UNEVEN` times as many words as the smallest.

    The smallest is too small to show how much its words vary, so results are less certain than they appear. For each
    kind, "group" or "class", `_OF_UNEVEN` has the false positive rates of simulated tables with such sizes, with the
    default model and with the quasi-F test.
    """
    notices = []
    for kind, n_words in words_of_categories(table).items():
        smallest = min(n_words, key=n_words.__getitem__)
        largest = max(n_words, key=n_words.__getitem__)
        if n_words[largest] < UNEVEN * n_words[smallest]:
            continue
        false_positives, by_quasi_f = _OF_UNEVEN[kind]
        notices.append(
            f"{kind} '{largest}' has {n_words[largest]} words, but '{smallest}' has only {n_words[smallest]}, which is"
            f" too few to show how much they vary. If the words of '{smallest}' vary more, intervals are too short (for"
            f" example, with 3 words that vary three times as much as 30 others, {false_positives} false positives at"
            f" the 5% level, or {by_quasi_f} by the quasi-F)"
        )
    return tuple(notices)


def words_of_categories(table: AssociationTable) -> dict[str, dict[str, int]]:
    """Count the words of each "group", and of each associated "class", that is, each class that is no control class.

    The result has the two kinds as keys, and for each the number of words by the name of the group or class.
    """
    values = table.values
    return {
        "group": words_in(values.group, table.groups),
        "class": words_in(values.attribute_class, table.associated_classes),
    }


def words_in(categories: xr.DataArray, names: Iterable[str]) -> dict[str, int]:
    """Count the words in each of these groups, or classes."""
    labels = categories.to_numpy()
    return {name: int((labels == name).sum()) for name in names}


def assemble(
    values: np.ndarray | Products,
    targets: Mapping[str, str],
    attributes: Mapping[str, str],
    stereotypes: Mapping[str, str],
    *,
    topics: Mapping[str, str] = MappingProxyType({}),
    pairs: Mapping[str, str] = MappingProxyType({}),
    replicates: Mapping[str, np.ndarray | Products] = MappingProxyType({}),
    kind: str = "replicate",
    **about: Any,
) -> AssociationTable:
    """Make a table from a matrix (targets, attributes).

    `targets` has the group of each target, and `attributes` the class of each attribute, in the order of the rows and
    columns. `topics` and `pairs` have the optional labels of single words. If there are replicates, such as templates,
    `replicates` has a matrix for each of them, `kind` is their noun, and `values` is their mean. All other fields of
    the table are in `about`.
    """
    coords: dict[str, Any] = {"target": list(targets), "attribute": list(attributes)}
    coords["group"] = ("target", list(targets.values()))
    coords["attribute_class"] = ("attribute", list(attributes.values()))

    def matrix(numbers: np.ndarray | Products) -> xr.DataArray:
        """Return a matrix with labels of rows and columns: words, groups, classes, topics, and pairs."""
        array = numbers if isinstance(numbers, Products) else np.asarray(numbers, dtype=float)
        unlabelled = xr.DataArray(array, coords, ("target", "attribute"), name="association")
        return labelled(unlabelled, topics, pairs)

    singles = MappingProxyType({label: matrix(single) for label, single in replicates.items()})
    table = AssociationTable(
        matrix(values),
        MappingProxyType(dict(stereotypes)),
        replicates=Replicates(kind, singles) if singles else None,
        **about,
    )
    _check_classes(table)
    return table


def _check_known(argument: str, name: str, valid: tuple[str, ...]) -> None:
    """Raise an error if the name of a group or class is not in the table."""
    if name not in valid:
        raise TableError(f"`{argument}` is '{name}', which is not in this table.", name, valid)


def _check_classes(table: AssociationTable) -> None:
    """Raise an error if stereotypes define no contrast between classes.

    A bias is the difference between the values of two classes, so a table needs a group and two classes.
    """
    if not table.groups or len(table.associated_classes) < 2:
        raise TableError(
            f"`stereotypes` must define at least one group and two associated classes, because bias is a contrast, but"
            f" there is {len(table.groups)} group and {len(table.associated_classes)} class. Add a group with another"
            " class, or set `opposites`."
        )


def _about_equal_vectors(values: xr.DataArray, metric: Metric) -> tuple[str, ...]:
    """Return a notice of pairs whose cosine is 1, because these words have the same vector, as in a pruned file.

    A cosine counts as 1 if it differs by less than `_SAME`. The notice names the first `_NAMED` pairs. Other metrics
    than the cosine have no such value.
    """
    if metric != COSINE:
        return ()
    targets = values.target.to_numpy()
    attributes = values.attribute.to_numpy()
    pairs = []
    for row, column in np.argwhere(values.to_numpy() > 1 - _SAME):
        pairs.append(f"'{targets[row]}' and '{attributes[column]}'")
    if not pairs:
        return ()
    more = f", and {len(pairs) - _NAMED} more pairs" if len(pairs) > _NAMED else ""
    return (
        f"the cosine of {', '.join(pairs[:_NAMED])}{more} is 1, so these words seem to have the same vector. Check"
        " whether the vectors were pruned, or stand for unknown words",
    )


def _opposite_classes(
    frame: pd.DataFrame, column: str, stereotypes: Mapping[str, str], requested: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the opposite classes: as requested or, if all groups have the same class, all others.

    An opposite class is compared with the stereotypical classes, although it is not stereotypical for any group. If
    groups have different classes, these are compared with each other, and there are no opposite classes by default.
    `column` is the column of the frame with the class of each attribute.
    """
    if requested is not None:
        return tuple(dict.fromkeys(requested))
    stereotypical = set(stereotypes.values())
    if len(stereotypical) != 1 or column not in frame:
        return ()
    classes = frame[column].dropna()
    return tuple(dict.fromkeys(classes[~classes.isin(stereotypical)]))


def _positions(labels: np.ndarray, order: tuple[str, ...]) -> np.ndarray:
    """Return the position of each label in an order."""
    return np.array([order.index(label) for label in labels.tolist()])


def unit_of(sources: Iterable[AssociationTable | WordList]) -> str:
    """Return the noun for the units of all tables or lists, or "item" if they have different ones."""
    units = {source.unit for source in sources}
    return units.pop() if len(units) == 1 else "item"
