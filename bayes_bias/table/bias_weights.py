"""The definition of bias by weights of block means, which depend only on the design.

An estimand is a contrast of block means ``mean[group, class]``. Its weights have the dims ``(contrast, group,
attribute_class)``. A positive contrast always means that words are closer to the stereotypical class.
"""

import numpy as np
import xarray as xr

from bayes_bias.table.statistics import compared_classes

OVERALL = "overall"
BLOCK = ["group", "attribute_class"]


def block_weights(data: xr.Dataset) -> dict[str, xr.DataArray]:
    """Return the weights (contrasts, groups, classes) of each estimand: ``bias``, ``class_bias``, ``group_bias``,
    ``excess`` and ``repulsion``.

    A contrast is the sum of the block means, which are the means of a group with a class, times its weights. The bias
    of a group is its closeness to the associated class minus its closeness to other classes, and the bias of a class
    compares its groups with others. ``excess`` is the closeness of a group to its associated class minus its closeness
    to a control class, and ``repulsion`` is the closeness to a control class minus that to the other classes. There is
    no ``class_bias`` for a class with which all groups are associated, because there are no other groups to compare
    with.

    For each group, `associated` (groups, classes) is 1 in its associated class, and `others` has equal weights that sum
    to 1 in the other compared classes.
    """
    groups = data.group.to_numpy()
    classes = data.attribute_class.to_numpy()
    associated, others = _associated_and_others(data)
    weights = {"bias": bias_weights(data)}
    contrasted = contrasted_classes(data)
    if contrasted.size:
        weights["class_bias"] = _weights(data, _class_signs(data)[contrasted], classes[contrasted])
    weights["group_bias"] = _weights(data, _group_signs(associated, others), groups)
    controls = np.setdiff1d(np.arange(len(classes)), compared_classes(data))
    if controls.size:
        in_group = np.eye(len(groups))
        is_control = np.eye(len(classes))[controls]  # (controls, classes)
        labels = [f"{group}, {control}" for group in groups for control in classes[controls]]
        # Weights of classes for each group and control class, (groups, controls, classes).
        class_weights = {"excess": associated[:, None] - is_control, "repulsion": is_control - others[:, None]}
        for name, weights_of_classes in class_weights.items():
            # The same weights in the row of the group itself, and 0 in others, (groups, controls, groups, classes).
            blocks = in_group[:, None, :, None] * weights_of_classes[:, :, None, :]
            weights[name] = _weights(data, blocks.reshape(-1, len(groups), len(classes)), labels)
    return weights


def bias_weights(data: xr.Dataset) -> xr.DataArray:
    """Return the weights of ``bias`` alone: the average over groups."""
    return _weights(data, _group_signs(*_associated_and_others(data)).mean(axis=0, keepdims=True), [OVERALL])


def level_weights(data: xr.Dataset) -> xr.DataArray:
    """Return weights (contrasts, groups, classes) that select one block mean each, labelled ``"group, class"``.

    There is a contrast for each block, group by group, whose only weight is 1 in this block.
    """
    groups = data.group.to_numpy()
    classes = data.attribute_class.to_numpy()
    blocks = np.eye(len(groups) * len(classes)).reshape(-1, len(groups), len(classes))
    return _weights(data, blocks, [f"{group}, {name}" for group in groups for name in classes])


def target_weights(data: xr.Dataset) -> xr.DataArray:
    """Return the weights of ``target_bias``. Each target has the weights that the bias of its group has."""
    by_group = _group_signs(*_associated_and_others(data))
    return _weights(data, by_group[data.group_of.to_numpy()], data.target.to_numpy())


def attribute_weights(data: xr.Dataset) -> xr.DataArray:
    """Return the weights (attributes, groups, classes) of ``attribute_bias``.

    Each attribute has the weights of the bias of its class. Attributes of classes without a bias are omitted.
    """
    class_of = data.class_of.to_numpy()
    has_bias = np.isin(class_of, contrasted_classes(data))
    return _weights(data, _class_signs(data)[class_of[has_bias]], data.attribute.to_numpy()[has_bias])


def contrasted_classes(data: xr.Dataset) -> np.ndarray:
    """Return positions of the classes that some groups are associated with and others are not."""
    associated, groups = np.unique(data.associated, return_counts=True)
    return np.asarray(associated[groups < data.sizes["group"]])


def score_weights(data: xr.Dataset) -> xr.DataArray:
    """Return the weights of a target's association score: its mean with the class of the first group, minus its mean
    with the class of the second group."""
    associated, _ = _associated_and_others(data)  # (groups, classes): 1 for the class of each group
    weights = associated[0] - associated[1]
    return xr.DataArray(weights, dims="attribute_class", coords={"attribute_class": data.attribute_class})


def _group_signs(associated: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the weights of the bias of each group, (biases of groups, groups, classes).

    The bias of a group is its closeness to its associated class minus its closeness to the other classes, whose weights
    are `associated` and `others`, (groups, classes). Only the row of the group itself has weights.
    """
    return np.eye(len(associated))[:, :, None] * (associated - others)[:, None, :]


def _class_signs(data: xr.Dataset) -> np.ndarray:
    """Return the weights of the bias of each class, (classes, groups, classes).

    The bias of a class is the mean over the groups that are associated with it, minus the mean over the other groups.
    Only the blocks of the class itself have a weight, so the last two dimensions of a class have a single column that
    is not zero.
    """
    associated, _ = _associated_and_others(data)  # (groups, classes)
    mean_of_own = associated.T / np.maximum(associated.sum(axis=0), 1)[:, None]  # (classes, groups)
    mean_of_others = (1 - associated.T) / np.maximum((1 - associated).sum(axis=0), 1)[:, None]
    return (mean_of_own - mean_of_others)[:, :, None] * np.eye(len(mean_of_own))[:, None, :]


def _associated_and_others(data: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return two weights of classes for each group, (groups, classes), which both sum to one.

    The first is 1 for the associated class of the group, and the second is equal for all other compared classes.
    """
    one_class = np.eye(data.sizes["attribute_class"])
    associated = one_class[data.associated.to_numpy()]
    others = one_class[compared_classes(data)].sum(axis=0) - associated
    return associated, others / others.sum(axis=1, keepdims=True)


def _weights(data: xr.Dataset, blocks: np.ndarray, labels: np.ndarray | list[str]) -> xr.DataArray:
    """Return the weights of blocks, (contrasts, groups, classes), with labels of contrasts, groups, and classes.

    `labels` has a label for each contrast, and `data` those of groups and classes, the names of `BLOCK`.
    """
    return xr.DataArray(
        blocks,
        dims=("contrast", *BLOCK),
        coords={"contrast": list(labels), "group": data.group, "attribute_class": data.attribute_class},
    )
