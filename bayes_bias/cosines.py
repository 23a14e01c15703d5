"""The data: a labelled matrix of cosine similarities, targets x attributes."""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.errors import CosinesError, did_you_mean
from bayes_bias.products import Products

logger = logging.getLogger("bayes_bias")

FRAME_COLUMNS = ("target", "group", "attribute", "attribute_class", "cosine")

# Cosines of float32 vectors overshoot 1 by rounding; anything further out is not a cosine.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Cosines:
    """Raw cosine similarities of target and attribute words, with the design they belong to.

    Made by `measure` from vectors or by `Cosines.from_frame` from a tidy table; every model and every
    measure of this package starts from it.

    Attributes
    ----------
    similarity : xarray.DataArray
        Cosine similarities, dims ``(target, attribute)``, with coordinates ``group (target)`` and
        ``attribute_class (attribute)``. A pair that the source does not have is NaN. The values of very long
        lists are not formed before they are asked for; see `bayes_bias.products.Products`.
    associations : mapping of str to str
        The class that is stereotypical for each group. Classes that no group is associated with are
        controls.
    name : str
        What the data are called in tables and files.
    repeats : xarray.DataArray or None
        How often the source lists each pair; None where each is listed once. Only the hierarchical model
        can use it (``duplicates="keep"``).
    notices : tuple of str
        What was left out on the way here, in plain sentences.
    provenance : mapping of str to str
        Where the numbers come from (hashes, names of list and embedding).
    coverage : pandas.DataFrame or None
        What the embedding has of the word list, one row for each group and class; None for cosines from a
        table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "target": ["he", "he", "she", "she"], "group": ["man", "man", "woman", "woman"],
    ...     "attribute": ["boss", "maid"] * 2, "attribute_class": ["work", "home"] * 2,
    ...     "cosine": [0.4, 0.1, 0.2, 0.3]})
    >>> cosines = Cosines.from_frame(
    ...     frame, target="target", group="group", attribute="attribute",
    ...     attribute_class="attribute_class", cosine="cosine", associations={"man": "work", "woman": "home"})
    >>> cosines.similarity.sel(target="he", attribute="boss").item()
    0.4
    """

    similarity: xr.DataArray
    associations: Mapping[str, str]
    name: str = "cosines"
    repeats: xr.DataArray | None = None
    notices: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    coverage: pd.DataFrame | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of targets, in the order of the associations."""
        return tuple(self.associations)

    @property
    def associated_classes(self) -> tuple[str, ...]:
        """Classes that are stereotypical for some group, each once."""
        return tuple(dict.fromkeys(self.associations.values()))

    @property
    def controls(self) -> tuple[str, ...]:
        """Classes that no group is associated with."""
        present = dict.fromkeys(self.similarity.attribute_class.to_numpy().tolist())
        return tuple(c for c in present if c not in self.associated_classes)

    @property
    def classes(self) -> tuple[str, ...]:
        """All attribute classes: the associated ones first, then the controls."""
        return self.associated_classes + self.controls

    @property
    def group_index(self) -> np.ndarray:
        """Position of each target's group in `groups`, shape (targets,)."""
        return _positions(self.similarity.group.to_numpy(), self.groups)

    @property
    def class_index(self) -> np.ndarray:
        """Position of each attribute's class in `classes`, shape (attributes,)."""
        return _positions(self.similarity.attribute_class.to_numpy(), self.classes)

    @property
    def is_formed(self) -> bool:
        """Whether the cosines are there as numbers, and not as products of unit vectors."""
        return not isinstance(self.similarity.data, Products)

    @property
    def is_complete(self) -> bool:
        """Whether every target meets every attribute."""
        return not self.is_formed or not np.isnan(self.similarity.to_numpy()).any()

    @property
    def sha256(self) -> str:
        """Hash of words, design and cosines (where they are not formed, of the unit vectors that they are products
        of): two tables with the same hash give the same numbers."""
        digest = hashlib.sha256()
        for column in ("target", "group", "attribute", "attribute_class"):
            digest.update("\x1f".join(self.similarity[column].to_numpy().tolist()).encode() + b"\x1e")
        digest.update(repr(sorted(self.associations.items())).encode())
        values = self.similarity.data
        for numbers in (values.targets, values.attributes) if isinstance(values, Products) else (values,):
            digest.update(np.ascontiguousarray(numbers, dtype="<f8"))
        if self.repeats is not None:
            digest.update(np.ascontiguousarray(self.repeats.to_numpy(), dtype="<i8").tobytes())
        return digest.hexdigest()

    def without_controls(self) -> Self:
        """The same cosines with the associated classes alone, as WEAT sees them."""
        keep = np.isin(self.similarity.attribute_class.to_numpy(), self.associated_classes)
        repeats = None if self.repeats is None else self.repeats[:, keep]
        return replace(self, similarity=self.similarity[:, keep], repeats=repeats)

    def block(self, group: str, attribute_class: str) -> np.ndarray:
        """Cosines of one group's targets with one class's attributes, shape (targets, attributes)."""
        rows = self.similarity.group.to_numpy() == _known("group", group, self.groups)
        columns = self.similarity.attribute_class.to_numpy() == _known(
            "attribute_class", attribute_class, self.classes
        )
        return self.similarity.to_numpy()[np.ix_(rows, columns)]

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair: target, group, attribute, attribute_class, cosine.

        `Cosines.from_frame` takes the frame back, with these column names. Pairs that the source listed
        several times appear as often; pairs that it does not have do not appear.
        """
        frame = self.similarity.rename("cosine").to_dataframe().reset_index()
        if self.repeats is not None:
            times = self.repeats.to_numpy().ravel()
            frame = frame.loc[frame.index.repeat(times)]
        return frame.dropna(subset="cosine")[list(FRAME_COLUMNS)].reset_index(drop=True)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        target: str,
        group: str | Mapping[str, str],
        attribute: str,
        attribute_class: str,
        cosine: str,
        associations: Mapping[str, str],
        duplicates: Literal["drop", "keep"] = "drop",
        name: str = "cosines",
    ) -> Self:
        """Cosines from a tidy table, one row for each pair of a target and an attribute.

        Parameters
        ----------
        frame : pandas.DataFrame
            The table; it is not changed.
        target, attribute, attribute_class, cosine : str
            Names of the columns. The cosine is the *similarity*, in [-1, 1].
        group : str or mapping of str to str
            The column with each target's group, or a mapping from target to group.
        associations : mapping of str to str
            For each group the class that is stereotypical for it. Any other class is a control.
        duplicates : {"drop", "keep"}
            A pair listed several times is kept once, with a notice, or counted as often as it is listed,
            which only the hierarchical model can use (to reproduce its paper).
        name : str
            What the data are called in tables and files.

        Raises
        ------
        CosinesError
            A column is missing, a value is not a cosine, a word is in two groups or classes, one pair has
            two different cosines, a group has no association.
        """
        if duplicates not in ("drop", "keep"):
            raise CosinesError(f"duplicates: '{duplicates}' is not an option; valid: drop, keep")
        for column in (target, attribute, attribute_class, cosine):
            _require_column(frame, column)
        groups = (
            frame[target].map(dict(group)) if isinstance(group, Mapping) else frame[_column(frame, group)]
        )
        tidy = pd.DataFrame(
            {
                "target": frame[target].to_numpy(),
                "group": groups.to_numpy(),
                "attribute": frame[attribute].to_numpy(),
                "attribute_class": frame[attribute_class].to_numpy(),
                "cosine": frame[cosine].to_numpy(),
            }
        )
        _check_values(tidy)
        _check_design(tidy, associations)
        tidy, self_notices = _without_self_pairs(tidy)
        tidy, repeats, repeat_notices = _without_repeats(tidy, duplicates)
        cosines = cls(
            similarity=_matrix(tidy, "cosine", associations),
            associations=MappingProxyType(dict(associations)),
            name=name,
            repeats=None
            if repeats is None
            else _matrix(repeats, "times", associations).fillna(0).astype(int),
            notices=announce(self_notices + repeat_notices),
            provenance=MappingProxyType({"source": "table of cosines"}),
        )
        _check_classes(cosines)
        return cosines


def announce(notices: tuple[str, ...]) -> tuple[str, ...]:
    """Tell the reader now what was left out; the same sentences stay with the data."""
    for notice in notices:
        logger.warning(notice)
    return notices


def assemble(
    similarity: np.ndarray | Products,
    targets: Mapping[str, str],
    attributes: Mapping[str, str],
    associations: Mapping[str, str],
    **about: Any,
) -> Cosines:
    """Cosines from a matrix (targets, attributes) and the words' group and class, in order."""
    labelled = xr.DataArray(
        similarity if isinstance(similarity, Products) else np.asarray(similarity, dtype=float),
        dims=("target", "attribute"),
        coords={
            "target": list(targets),
            "attribute": list(attributes),
            "group": ("target", list(targets.values())),
            "attribute_class": ("attribute", list(attributes.values())),
        },
        name="similarity",
    )
    cosines = Cosines(labelled, MappingProxyType(dict(associations)), **about)
    _check_classes(cosines)
    return cosines


def _positions(labels: np.ndarray, order: tuple[str, ...]) -> np.ndarray:
    rank = {label: i for i, label in enumerate(order)}
    return np.array([rank[label] for label in labels.tolist()])


def _known(argument: str, value: str, valid: tuple[str, ...]) -> str:
    if value not in valid:
        raise CosinesError(f"{argument}: '{value}' is not in these cosines; {did_you_mean(value, valid)}")
    return value


def _column(frame: pd.DataFrame, column: str) -> str:
    if column not in frame.columns:
        hint = did_you_mean(str(column), map(str, frame.columns))
        raise CosinesError(f"frame: has no column '{column}'; {hint}")
    return column


def _require_column(frame: pd.DataFrame, column: str) -> None:
    _column(frame, column)


def _check_values(tidy: pd.DataFrame) -> None:
    if tidy.empty:
        raise CosinesError("frame: has no rows; one row for each pair of a target and an attribute is needed")
    if not pd.api.types.is_numeric_dtype(tidy.cosine):
        raise CosinesError(f"cosine: column holds {tidy.cosine.dtype}, not numbers; convert it first")
    for column in ("target", "group", "attribute", "attribute_class"):
        empty = tidy[column].isna()
        if empty.any():
            whose = f", for target '{tidy.target[empty].iloc[0]}'" if column == "group" else ""
            raise CosinesError(
                f"{column}: {empty.sum()} of {len(tidy)} rows have none{whose}; fill or remove them"
            )
    outside = ~(tidy.cosine.abs() <= 1 + _ROUNDING)
    if outside.any():
        row = tidy[outside].iloc[0]
        raise CosinesError(
            f"cosine: {row.cosine:g} at ('{row.target}', '{row.attribute}') and {outside.sum() - 1} more rows are"
            " no cosine similarities, which lie in [-1, 1]; remove rows that code missing words"
        )


def _check_design(tidy: pd.DataFrame, associations: Mapping[str, str]) -> None:
    for word, label in (("target", "group"), ("attribute", "attribute_class")):
        labels = tidy.drop_duplicates([word, label])
        twice = labels[labels[word].duplicated(keep=False)]
        if not twice.empty:
            first = twice[twice[word] == twice[word].iloc[0]]
            raise CosinesError(
                f"{label}: {word} '{first[word].iloc[0]}' is in {' and '.join(map(repr, first[label]))};"
                f" a word belongs to one {label}"
            )
    groups, classes = set(tidy.group), set(tidy.attribute_class)
    for group, attribute_class in associations.items():
        if group not in groups:
            raise CosinesError(f"associations: '{group}' is no group; {did_you_mean(group, groups)}")
        if attribute_class not in classes:
            hint = did_you_mean(attribute_class, classes)
            raise CosinesError(f"associations: '{attribute_class}' is no attribute class; {hint}")
    if missing := sorted(groups - set(associations)):
        raise CosinesError(
            f"associations: group '{missing[0]}' has none; name the class stereotypical for it"
        )


def _check_classes(cosines: Cosines) -> None:
    if len(cosines.groups) < 2 or len(cosines.associated_classes) < 2:
        raise CosinesError(
            f"associations: {len(cosines.groups)} group(s) and {len(cosines.associated_classes)} associated"
            " class(es); bias is a contrast and needs at least two of each"
        )


def _without_self_pairs(tidy: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """A word's cosine with itself is 1 by construction: the word leaves the attribute side."""
    both = sorted(set(tidy.target) & set(tidy.attribute))
    if not both:
        return tidy, ()
    words = ", ".join(both)
    notice = f"{len(both)} word(s) are targets and attributes; dropped from the attributes: {words}"
    return tidy[~tidy.attribute.isin(both)], (notice,)


def _without_repeats(
    tidy: pd.DataFrame, duplicates: str
) -> tuple[pd.DataFrame, pd.DataFrame | None, tuple[str, ...]]:
    pairs = ["target", "attribute"]
    spread = tidy.groupby(pairs, sort=False).cosine.agg(["min", "max", "size"])
    differing = spread[spread["max"] - spread["min"] > _ROUNDING]
    if not differing.empty:
        target, attribute = differing.index[0]
        low, high = differing.iloc[0][["min", "max"]]
        raise CosinesError(
            f"cosine: pair ('{target}', '{attribute}') is listed with {low:.4g} and {high:.4g};"
            " one pair has one cosine, remove the wrong row"
        )
    once = tidy.drop_duplicates(pairs)
    extra = len(tidy) - len(once)
    if not extra:
        return tidy, None, ()
    if duplicates == "keep":
        times = once.assign(times=spread["size"].loc[pd.MultiIndex.from_frame(once[pairs])].to_numpy())
        return once, times, (f"{extra} of {len(tidy)} rows repeat a pair and were kept",)
    return once, None, (f"{extra} of {len(tidy)} rows repeat a pair and were dropped",)


def _matrix(tidy: pd.DataFrame, values: str, associations: Mapping[str, str]) -> xr.DataArray:
    """Rows and columns in the order of the frame, classes gathered: associated ones first."""
    ranks = {g: i for i, g in enumerate(associations)}
    targets = tidy.drop_duplicates("target").sort_values("group", key=lambda s: s.map(ranks), kind="stable")
    attributes = tidy.drop_duplicates("attribute")
    order = dict.fromkeys([*associations.values(), *attributes.attribute_class])
    class_ranks = {c: i for i, c in enumerate(order)}
    attributes = attributes.sort_values("attribute_class", key=lambda s: s.map(class_ranks), kind="stable")
    wide = tidy.pivot_table(index="target", columns="attribute", values=values)
    wide = wide.reindex(index=targets.target, columns=attributes.attribute)
    return xr.DataArray(
        wide.to_numpy(dtype=float),
        dims=("target", "attribute"),
        coords={
            "target": targets.target.to_numpy(dtype=object),
            "attribute": attributes.attribute.to_numpy(dtype=object),
            "group": ("target", targets.group.to_numpy(dtype=object)),
            "attribute_class": ("attribute", attributes.attribute_class.to_numpy(dtype=object)),
        },
        name="similarity",
    )
