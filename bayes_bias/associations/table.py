"""The data: a labelled table of associations, targets x attributes."""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from bayes_bias.arguments import check_kind
from bayes_bias.associations.association import COSINE, Association
from bayes_bias.associations.frames import WORDS, Duplicates, matrices, of_replicates, tidied
from bayes_bias.associations.labels import LABELS, labelled, settled
from bayes_bias.associations.lazy import Products
from bayes_bias.associations.replicates import Replicates, combine, few
from bayes_bias.citation import Reference
from bayes_bias.errors import AssociationsError, did_you_mean
from bayes_bias.formatting import Telling

# From this ratio on a small group's own scale may differ unseen.
UNEVEN = 3

logger = logging.getLogger("bayes_bias")


@dataclass(frozen=True, eq=False, repr=False)
class Associations(Telling):
    """Raw associations of target and attribute words, with the design they belong to.

    Made by `bayes_bias.cosines` from vectors or by `Associations.from_frame` from a tidy table; every model and every
    measure of this package starts from it.

    Attributes
    ----------
    values : xarray.DataArray
        The numbers, dims ``(target, attribute)``, with coordinates ``group (target)`` and
        ``attribute_class (attribute)``. Where the list names any, also with ``target_topic`` and ``target_pair
        (target)``, ``attribute_topic`` and ``attribute_pair (attribute)``, "" for a word that is in none. Topics are
        those of a group or class: the same name in two classes means two topics. The two words of a pair share its
        label, such as "he/she". A value that the source does not have is NaN. The values of very long lists are not
        formed before they are asked for; see `bayes_bias.associations.lazy.Products`. Where there are replicates these
        are their means.
    stereotypes : mapping of str to str
        The class that is stereotypical for each group: the two are *associated*.
    opposites : tuple of str
        Classes that no group is associated with, and that are compared with those that are: a single group's class
        needs one. All other classes are controls.
    association : Association
        What the numbers are, and in which units; the cosine by default.
    name : str
        What the data are called in tables and files.
    replicates : Replicates or None
        Where the same words were measured several times, in several templates or trainings for instance, the table of
        each; see `bayes_bias.replicated`.
    repeats : xarray.DataArray or None
        How often the source lists each pair; None where each is listed once. Only the hierarchical model
        can use it (``duplicates="keep"``).
    notices : tuple of str
        What was left out on the way here, in plain sentences.
    source : Reference
        Where the word list comes from; empty for a list of one's own.
    control_sources : tuple of Reference
        Where its control classes come from.
    provenance : mapping of str to str
        Where the numbers come from (hashes, names of list and embedding).
    coverage : pandas.DataFrame or None
        What the embedding has of the word list, one row for each group and class; None for numbers from a
        frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "target": ["he", "he", "she", "she"], "group": ["man", "man", "woman", "woman"],
    ...     "attribute": ["boss", "maid"] * 2, "attribute_class": ["work", "home"] * 2,
    ...     "cosine": [0.4, 0.1, 0.2, 0.3]})
    >>> table = Associations.from_frame(
    ...     frame, target="target", group="group", attribute="attribute",
    ...     attribute_class="attribute_class", value="cosine", stereotypes={"man": "work", "woman": "home"})
    >>> table.values.sel(target="he", attribute="boss").item()
    0.4
    """

    values: xr.DataArray
    stereotypes: Mapping[str, str]
    opposites: tuple[str, ...] = ()
    association: Association = COSINE
    name: str = "table"
    replicates: Replicates | None = None
    repeats: xr.DataArray | None = None
    notices: tuple[str, ...] = ()
    source: Reference = Reference()
    control_sources: tuple[Reference, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    coverage: pd.DataFrame | None = None

    @property
    def text(self) -> str:
        """Name, size, what the numbers are, and the design."""
        targets, attributes = self.values.shape
        pairs = ", ".join(f"{group} = {c}" for group, c in self.stereotypes.items())
        pairs += f" against {', '.join(self.opposites)}" if self.opposites else ""
        controls = f"; controls {', '.join(self.controls)}" if self.controls else ""
        size = f"{targets:,} targets x {attributes:,} attributes"
        if self.replicates is not None:
            size += f" x {self.replicates.text}"
        return f"{self.name}, {size}, {self.association.plural}; {pairs}{controls}"

    @property
    def references(self) -> tuple[Reference, ...]:
        """What its words are cited by, each once."""
        return tuple(dict.fromkeys(r for r in (self.source, *self.control_sources) if r.citation))

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of targets, in the order of the stereotypes."""
        return tuple(self.stereotypes)

    @property
    def associated_classes(self) -> tuple[str, ...]:
        """Classes that are stereotypical for some group, each once, and their opposites."""
        return tuple(dict.fromkeys((*self.stereotypes.values(), *self.opposites)))

    @property
    def controls(self) -> tuple[str, ...]:
        """Classes that no group is associated with, and that are no opposites."""
        present = dict.fromkeys(self.values.attribute_class.to_numpy().tolist())
        return tuple(c for c in present if c not in self.associated_classes)

    @property
    def classes(self) -> tuple[str, ...]:
        """All attribute classes: the associated ones first, then the controls."""
        return self.associated_classes + self.controls

    @property
    def group_index(self) -> np.ndarray:
        """Position of each target's group in `groups`, shape (targets,)."""
        return _positions(self.values.group.to_numpy(), self.groups)

    @property
    def class_index(self) -> np.ndarray:
        """Position of each attribute's class in `classes`, shape (attributes,)."""
        return _positions(self.values.attribute_class.to_numpy(), self.classes)

    @property
    def labels(self) -> tuple[str, ...]:
        """Which of ``target_topic``, ``target_pair``, ``attribute_topic`` and ``attribute_pair`` the table has."""
        return tuple(name for name in LABELS if name in self.values.coords)

    @property
    def is_formed(self) -> bool:
        """Whether the cosines are there as numbers, and not as products of unit vectors."""
        return not isinstance(self.values.data, Products)

    @property
    def is_complete(self) -> bool:
        """Whether every target meets every attribute."""
        return not self.is_formed or not np.isnan(self.values.to_numpy()).any()

    @property
    def sha256(self) -> str:
        """Hash of words, design and values (where they are not formed, of the unit vectors that they are products
        of): two tables with the same hash give the same numbers."""
        digest = hashlib.sha256()
        for column in (*WORDS, *self.labels):
            digest.update("\x1f".join(self.values[column].to_numpy().tolist()).encode() + b"\x1e")
        digest.update(repr(sorted(self.stereotypes.items())).encode())
        digest.update(repr(self.opposites).encode() if self.opposites else b"")
        tables = {"": self.values} if self.replicates is None else self.replicates.tables
        for label, table in tables.items():
            digest.update(label.encode())
            values = table.data
            for numbers in (values.targets, values.attributes) if isinstance(values, Products) else (values,):
                digest.update(np.ascontiguousarray(numbers, dtype="<f8"))
        if self.repeats is not None:
            digest.update(np.ascontiguousarray(self.repeats.to_numpy(), dtype="<i8").tobytes())
        return digest.hexdigest()

    def without_controls(self) -> Self:
        """The same numbers with the associated classes alone, as WEAT sees them."""
        keep = np.isin(self.values.attribute_class.to_numpy(), self.associated_classes)
        return self.over(lambda values: values[:, keep])

    def over(self, select: Callable[[xr.DataArray], xr.DataArray]) -> Self:
        """The same over the words that `select` takes of a matrix ``(target, attribute)``."""

        def kept(values: xr.DataArray) -> xr.DataArray:
            return settled(select(values))

        return replace(
            self,
            values=kept(self.values),
            replicates=None if self.replicates is None else self.replicates.over(kept),
            repeats=None if self.repeats is None else kept(self.repeats),
        )

    def singles(self) -> dict[str, Self]:
        """The tables of single replicates by their labels; nothing where there are none."""
        if self.replicates is None:
            return {}
        return {
            label: replace(self, values=values, replicates=None, notices=(), coverage=None)
            for label, values in self.replicates.tables.items()
        }

    def block(self, group: str, attribute_class: str) -> np.ndarray:
        """Values of one group's targets with one class's attributes, shape (targets, attributes)."""
        rows = self.values.group.to_numpy() == _known("group", group, self.groups)
        columns = self.values.attribute_class.to_numpy() == _known(
            "attribute_class", attribute_class, self.classes
        )
        return self.values.to_numpy()[np.ix_(rows, columns)]

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair: target, group, attribute, attribute_class, `labels`, and the association by its name.

        `Associations.from_frame` takes the frame back, with these column names. Pairs that the source listed
        several times appear as often; pairs that it does not have do not appear. Where there are replicates, each pair
        has a row for each, and the first column is called what a replicate is.
        """
        if self.replicates is not None:
            frames = {label: single.to_frame() for label, single in self.singles().items()}
            return pd.concat(frames, names=[self.replicates.kind]).reset_index(level=0).reset_index(drop=True)
        value = self.association.name
        frame = self.values.rename(value).to_dataframe().reset_index()
        if self.repeats is not None:
            times = self.repeats.to_numpy().ravel()
            frame = frame.loc[frame.index.repeat(times)]
        return frame.dropna(subset=value)[[*WORDS, *self.labels, value]].reset_index(drop=True)

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
        stereotypes: Mapping[str, str],
        opposites: Sequence[str] | None = None,
        association: Association = COSINE,
        duplicates: Duplicates = "drop",
        name: str = "table",
        target_topic: str | None = None,
        target_pair: str | None = None,
        attribute_topic: str | None = None,
        attribute_pair: str | None = None,
        replicate: str | None = None,
        kind: str | None = None,
    ) -> Self:
        """A table from a tidy frame, one row for each pair of a target and an attribute (and replicate).

        Parameters
        ----------
        frame : pandas.DataFrame
            The table; it is not changed.
        target, attribute, attribute_class, value : str
            Names of the columns. The value of a cosine is the *similarity*, in [-1, 1].
        group : str or mapping of str to str
            The column with each target's group, or a mapping from target to group.
        stereotypes : mapping of str to str
            For each group the class that is stereotypical for it. Any other class is a control, unless it is among
            the `opposites`.
        opposites : sequence of str, optional
            Classes that no group is associated with, and that are compared all the same. By default none, but where
            there is a single group: all classes that are not stereotypical for it.
        association : Association
            What the values are, and in which units; the cosine by default.
        duplicates : {"drop", "keep"}
            A pair listed several times is kept once, with a notice, or counted as often as it is listed,
            which only the hierarchical model can use (to reproduce its paper).
        name : str
            What the data are called in tables and files.
        target_topic, target_pair, attribute_topic, attribute_pair : str, optional
            Names of columns with the sub-topic of each word, and a label that the two words of a matched pair share;
            empty where a word has none.
        replicate : str, optional
            Name of a column that says which replicate a value is of: the template, the seed.
        kind : str, optional
            What a replicate is, in the singular; the name of that column by default.

        Raises
        ------
        AssociationsError
            A column is missing, a value is out of the association's range, a word is in two groups, classes, topics or
            pairs, one pair has two different values, a group has no stereotypical class, a matched pair has more
            than two words or both in one group or class. There is one replicate alone, or one lacks a pair of words
            that all of them have; or repeated pairs are to be kept beside replicates.
        """
        columns = {
            "target": target,
            "attribute": attribute,
            "attribute_class": attribute_class,
            "value": value,
        }
        labels = (target_topic, target_pair, attribute_topic, attribute_pair)
        columns |= {ours: theirs for ours, theirs in zip(LABELS, labels, strict=True) if theirs is not None}
        if replicate is not None and duplicates == "keep":
            raise AssociationsError(
                "duplicates: 'keep' counts pairs as often as they are listed, which replicates are not made for; drop"
                " them, or leave out the column of replicates"
            )
        against = _opposites(frame, attribute_class, stereotypes, opposites)
        by_replicate = {"": frame} if replicate is None else of_replicates(frame, replicate)
        found = {
            label: matrices(tidied(own, columns, group), stereotypes, against, association, duplicates)
            for label, own in by_replicate.items()
        }
        first, replicates = next(iter(found.values())), None
        values, notices = (
            first.values,
            tuple(dict.fromkeys(n for each in found.values() for n in each.notices)),
        )
        if replicate is not None:
            replicates, left_out = combine(
                {label: each.values for label, each in found.items()}, kind or replicate
            )
            values, notices = replicates.mean(), (*notices, *left_out)
        table = cls(
            values=values,
            stereotypes=MappingProxyType(dict(stereotypes)),
            opposites=against,
            association=association,
            name=name,
            replicates=replicates,
            repeats=None if replicate is not None else first.repeats,
            notices=notices,
            provenance=MappingProxyType({"source": f"table of {association.plural}"}),
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
        association: Association = COSINE,
        name: str = "table",
    ) -> Self:
        """A table from an array, with one row for each target and one column for each attribute.

        Parameters
        ----------
        values : array (targets, attributes) or (replicates, targets, attributes)
            Missing pairs are NaN; replicates lack none.
        targets, attributes : mapping of str to str
            The group of each target, and the class of each attribute, in the order of the array.
        stereotypes, opposites, association, name
            As in `from_frame`.
        replicates : sequence of str
            The label of each replicate, where the array has three dimensions.
        kind : str
            What a replicate is, in the singular: "template", "seed".

        Raises
        ------
        AssociationsError
            The array has another shape; and what `from_frame` refuses.

        Examples
        --------
        >>> table = Associations.from_arrays(
        ...     [[0.4, 0.1], [0.2, 0.3]], targets={"he": "man", "she": "woman"},
        ...     attributes={"boss": "work", "maid": "home"}, stereotypes={"man": "work", "woman": "home"})
        >>> table.values.sel(target="she", attribute="maid").item()
        0.3
        """
        for label in replicates:
            if list(replicates).count(label) > 1:
                raise AssociationsError(f"replicates: '{label}' is named twice; name each once")
        array = np.asarray(values, dtype=float)
        shape = (*([len(replicates)] if replicates else []), len(targets), len(attributes))
        if array.shape != shape:
            names = "(replicates, targets, attributes)" if replicates else "(targets, attributes)"
            raise AssociationsError(
                f"values: an array of shape {array.shape}, where {names} are {shape}; give the words, and the labels of"
                " replicates, in the order of the array"
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
            association=association,
            name=name,
            replicate=kind if replicates else None,
        )


def check_table(table: Any, name: str = "table") -> None:
    """Refuse what is no table, before anything is asked of it.

    Raises
    ------
    AssociationsError
    """
    needed = "no table of associations; give what `bayes_bias.cosines` or `Associations.from_frame` returned"
    check_kind(name, table, Associations, needed, AssociationsError)


def with_notices[Table: Associations](table: Table) -> Table:
    """The same with all there is to say of it, said now."""
    of_replicates = () if table.replicates is None else few(table.replicates)
    return replace(table, notices=announce((*table.notices, *of_replicates, *uneven(table))))


def announce(notices: tuple[str, ...], level: int = logging.WARNING) -> tuple[str, ...]:
    """Tell the reader now what was left out; the same sentences stay with the data."""
    for notice in notices:
        logger.log(level, notice)
    return notices


def uneven(table: Associations) -> tuple[str, ...]:
    """Notices of groups, or of associated classes, of which one has `UNEVEN` times the words of another."""
    words = {
        "group": (table.values.group.to_numpy(), table.groups),
        "class": (table.values.attribute_class.to_numpy(), table.associated_classes),
    }
    numbers = {
        kind: {name: int((labels == name).sum()) for name in names} for kind, (labels, names) in words.items()
    }
    return tuple(
        _uneven(kind, each)
        for kind, each in numbers.items()
        if max(each.values()) >= UNEVEN * min(each.values())
    )


# Why, and how many false findings the posterior and the quasi-F have: CALIBRATION.md, "Simulated tables".
_OF_UNEVEN = {
    "group": ("groups share their scales", "35%", "9%"),
    "class": ("so few words say little of how much they vary", "17%", "7%"),
}


def _uneven(kind: str, numbers: Mapping[str, int]) -> str:
    least, most = min(numbers, key=numbers.__getitem__), max(numbers, key=numbers.__getitem__)
    why, found, by_quasi_f = _OF_UNEVEN[kind]
    return (
        f"{kind} '{most}' has {numbers[most]} words and '{least}' {numbers[least]}, and {why}: if words of '{least}'"
        f" vary more, intervals are too short (3 against 30 words, three times as variable: {found} false findings at"
        f" the 5% level; the quasi-F has {by_quasi_f})"
    )


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
) -> Associations:
    """A table from a matrix (targets, attributes) and the words' group and class, in order; the topic and the pair of
    words that have one may be given, too, and the matrices of replicates, of which this one is the mean."""

    def matrix(numbers: np.ndarray | Products) -> xr.DataArray:
        found = xr.DataArray(
            numbers if isinstance(numbers, Products) else np.asarray(numbers, dtype=float),
            dims=("target", "attribute"),
            coords={
                "target": list(targets),
                "attribute": list(attributes),
                "group": ("target", list(targets.values())),
                "attribute_class": ("attribute", list(attributes.values())),
            },
            name="association",
        )
        return labelled(found, topics, pairs)

    singles = MappingProxyType({label: matrix(each) for label, each in replicates.items()})
    table = Associations(
        matrix(values),
        MappingProxyType(dict(stereotypes)),
        replicates=Replicates(kind, singles) if singles else None,
        **about,
    )
    _check_classes(table)
    return table


def _positions(labels: np.ndarray, order: tuple[str, ...]) -> np.ndarray:
    rank = {label: i for i, label in enumerate(order)}
    return np.array([rank[label] for label in labels.tolist()])


def _known(argument: str, value: str, valid: tuple[str, ...]) -> str:
    if value not in valid:
        raise AssociationsError(f"{argument}: '{value}' is not in this table; {did_you_mean(value, valid)}")
    return value


def _check_classes(table: Associations) -> None:
    if not table.groups or len(table.associated_classes) < 2:
        raise AssociationsError(
            f"stereotypes: {len(table.groups)} group(s) and {len(table.associated_classes)} associated"
            " class(es); bias is a contrast and needs a group and two classes: name one for another group, or opposites"
        )


def _opposites(
    frame: pd.DataFrame, column: str, stereotypes: Mapping[str, str], named: Sequence[str] | None
) -> tuple[str, ...]:
    """The classes that those of the groups are compared with: as named, or for a single group all others."""
    if named is not None or len(stereotypes) != 1 or column not in frame:
        return tuple(dict.fromkeys(named or ()))
    return tuple(c for c in dict.fromkeys(frame[column].dropna()) if c not in stereotypes.values())
