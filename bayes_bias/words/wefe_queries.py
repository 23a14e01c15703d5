"""Queries of WEFE (https://wefe.readthedocs.io): sets of target and attribute words with a name each."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from bayes_bias.errors import WordListError
from bayes_bias.words.content import Content


@runtime_checkable
class Query(Protocol):
    """What a `wefe.Query` has; the class itself need not be installed."""

    target_sets: Sequence[Any]
    attribute_sets: Sequence[Any]
    target_sets_names: Sequence[str]
    attribute_sets_names: Sequence[str]


def list_of_query(query: Query, stereotypes: Mapping[str, str] | None = None) -> Content:
    """A query as the content of a word list: targets are groups, attributes classes.

    WEFE's scores are positive where the first targets are closer to the first attributes and the second to the second.
    So two sets of either, or a single set of targets, are stereotypical in their order.

    Raises
    ------
    WordListError
        There are other numbers of sets, or two sets of one name, and no `stereotypes`.
    """
    groups, classes = _named(query, "target"), _named(query, "attribute")
    in_order = len(groups) <= 2 == len(classes)
    if stereotypes is None and not in_order:
        raise WordListError(
            f"stereotypes: the query has {len(groups)} target sets ({', '.join(groups)}) and {len(classes)} attribute "
            f"sets ({', '.join(classes)}); say which attributes are stereotypical for each target set, such as "
            f"{{'{next(iter(groups))}': '{next(iter(classes))}'}}"
        )
    ordered = dict(zip(groups, classes, strict=False))
    return Content({"groups": groups, "classes": classes, "stereotypes": stereotypes or ordered}, "query")


def _named(query: Query, side: str) -> dict[str, Any]:
    sets, names = getattr(query, f"{side}_sets"), list(getattr(query, f"{side}_sets_names"))
    if len(set(names)) < len(names):
        raise WordListError(f"query: two {side} sets have one name ({', '.join(names)}); give each a name of its own")
    return dict(zip(names, sets, strict=True))
