"""The definition of bias, for all that estimates it: weights of block means, from the design alone.

An estimand is a contrast of block means ``mean[group, class]``; its weights ``(contrast, group, attribute_class)`` say
which blocks it compares. Positive always means closer to what is stereotypical.
"""

import numpy as np
import xarray as xr

from bayes_bias.table.statistics import compared_classes

OVERALL = "overall"
BLOCK = ["group", "attribute_class"]


def block_weights(data: xr.Dataset) -> dict[str, xr.DataArray]:
    """Weights of ``bias``, ``class_bias``, ``group_bias``, ``excess`` and ``repulsion``.

    A class that all groups are associated with, or a single group, has no ``class_bias``, because there are no other
    groups to compare with.
    """
    groups, classes = data.group.to_numpy(), data.attribute_class.to_numpy()
    associated, others = _associated_and_others(data)
    in_group = np.eye(len(groups))
    weights = {"bias": bias_weights(data)}
    if contrasted_classes(data).size:
        weights["class_bias"] = _class_weights(data)
    weights["group_bias"] = _weights(data, _group_signs(associated, others), groups)
    controls = np.setdiff1d(np.arange(len(classes)), compared_classes(data))
    if controls.size:
        control = np.eye(len(classes))[controls]
        labels = [f"{g}, {classes[c]}" for g in groups for c in controls]
        for name, contrast in (("excess", associated[:, None] - control), ("repulsion", control - others[:, None])):
            blocks = in_group[:, None, :, None] * contrast[:, :, None, :]
            weights[name] = _weights(data, blocks.reshape(-1, len(groups), len(classes)), labels)
    return weights


def bias_weights(data: xr.Dataset) -> xr.DataArray:
    """Weights of ``bias`` alone: the average over groups."""
    return _weights(data, _group_signs(*_associated_and_others(data)).mean(axis=0, keepdims=True), [OVERALL])


def level_weights(data: xr.Dataset) -> xr.DataArray:
    """One block mean after the other, which contrasts are made of; labels ``"group, class"``."""
    groups, classes = (data[dim].to_numpy() for dim in BLOCK)
    blocks = np.eye(len(groups) * len(classes)).reshape(-1, len(groups), len(classes))
    return _weights(data, blocks, [f"{g}, {c}" for g in groups for c in classes])


def target_weights(data: xr.Dataset) -> xr.DataArray:
    """Weights of ``target_bias``: those of its group's bias, for blocks target."""
    by_group = _group_signs(*_associated_and_others(data))
    return _weights(data, by_group[data.group_of.to_numpy()], data.target.to_numpy())


def attribute_weights(data: xr.Dataset) -> xr.DataArray:
    """Weights of ``attribute_bias``: those of its class's bias, for blocks attribute of each class that has one."""
    class_of = data.class_of.to_numpy()
    has_bias = np.isin(class_of, contrasted_classes(data))
    return _weights(data, _class_signs(data)[class_of[has_bias]], data.attribute.to_numpy()[has_bias])


def contrasted_classes(data: xr.Dataset) -> np.ndarray:
    """Positions of the classes that some groups are associated with and others are not."""
    associated, groups = np.unique(data.associated, return_counts=True)
    return np.asarray(associated[groups < data.sizes["group"]])


def score_weights(data: xr.Dataset) -> xr.DataArray:
    """A target's association score: its mean with the first group's class minus that with the second's."""
    associated, _ = _associated_and_others(data)
    return xr.DataArray(
        associated[0] - associated[1], dims="attribute_class", coords={"attribute_class": data.attribute_class}
    )


def _group_signs(associated: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Each group's associated class minus the others, in the row of the group; (groups, groups, classes)."""
    return np.eye(len(associated))[:, :, None] * (associated - others)[:, None, :]


def _class_weights(data: xr.Dataset) -> xr.DataArray:
    contrasted = contrasted_classes(data)
    return _weights(data, _class_signs(data)[contrasted], data.attribute_class.to_numpy()[contrasted])


def _class_signs(data: xr.Dataset) -> np.ndarray:
    """Groups associated with each class minus the others, in the column of the class; (classes, groups, classes)."""
    associated, _ = _associated_and_others(data)
    towards = associated.T / np.maximum(associated.sum(axis=0), 1)[:, None]
    away = (1 - associated.T) / np.maximum((1 - associated).sum(axis=0), 1)[:, None]
    return (towards - away)[:, :, None] * np.eye(len(towards))[:, None, :]


def _associated_and_others(data: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """For blocks group its associated class, and equal weights on the others that are compared; (groups, classes)."""
    classes = np.eye(data.sizes["attribute_class"])
    associated = classes[data.associated.to_numpy()]
    others = classes[compared_classes(data)].sum(axis=0) - associated
    return associated, others / others.sum(axis=1, keepdims=True)


def _weights(data: xr.Dataset, blocks: np.ndarray, labels: np.ndarray | list[str]) -> xr.DataArray:
    return xr.DataArray(
        blocks,
        dims=("contrast", *BLOCK),
        coords={"contrast": list(labels), "group": data.group, "attribute_class": data.attribute_class},
    )
