"""Registration of an analysis before its results are known, and comparison with the final analysis."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import pandas as pd

from bayes_bias.arguments import all_are, check_kind
from bayes_bias.documents.word_tables import words_of_category
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import check_output, read_json, whole_file
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.formatting import Column, Layout, Tabled, counted, joined
from bayes_bias.models.spec import ModelSpec
from bayes_bias.table.association_table import AssociationTable

_FORMAT = 1
# The source in which the words were found is not part of the registered analysis.
_NOT_REGISTERED = ("embedding_source",)


@dataclass(frozen=True, eq=False, repr=False)
class Registration(Tabled):
    """An analysis that was specified in advance: lists with their words, vectors, model, and decision rule.

    `bayes_bias.register` creates a registration without estimating a bias. Use `save` to write the registration to a
    file, and ``report(..., registered=path)`` to compare the final analysis with it.

    Attributes
    ----------
    settings : mapping
        Model with priors and hash, scope, probability of intervals, rope, contrasts, seed, sampler, and decision rule.
    lists : mapping of str to mapping
        For each list: words of each group and class, stereotypes, metric, covariates, and hashes of list, vectors, and
        table.
    """

    settings: Mapping[str, Any]
    lists: Mapping[str, Mapping[str, Any]]

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the registration to a JSON file."""
        with whole_file(check_output(Path(path), overwrite), overwrite) as unfinished:
            unfinished.write_bytes(self._content)

    @property
    def sha256(self) -> str:
        """Hash of the registration file, which you can publish as evidence of the date."""
        return sha256(self._content).hexdigest()

    @property
    def _content(self) -> bytes:
        """The content of the file: JSON with the format, the settings, and the lists."""
        content = {"bayes_bias_registration": _FORMAT, "settings": dict(self.settings), "lists": dict(self.lists)}
        return f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a registration from its file.

        Raises
        ------
        BayesBiasError
            If the file cannot be read or is not a registration.
        """
        content = read_json(Path(path), f"The registration '{path}' is", BayesBiasError)
        if not isinstance(content, dict) or content.get("bayes_bias_registration") != _FORMAT:
            raise BayesBiasError(
                f"'{path}' is not a registration of this version. Use `bayes_bias.register` (`bayes-bias register LIST"
                " --out plan.json`) to write one."
            )
        settings = content.get("settings")
        lists = content.get("lists")
        if not (isinstance(settings, dict) and isinstance(lists, dict) and all_are(dict, lists.values())):
            raise BayesBiasError(
                f"The registration '{path}' is incomplete: it must have the objects 'settings' and 'lists', and an"
                " object for each list. Use the file as `bayes_bias.register` wrote it."
            )
        return cls(settings, lists)

    def differences(self, used: "Registration") -> pd.DataFrame:
        """Return the settings that differ between this registration and another registration.

        The table has a row for each setting, with the columns ``list`` ("" for settings of the whole analysis),
        ``setting``, ``registered``, and ``used``. Missing values are "".
        """
        rows = _differences("", self.settings, used.settings)
        for name in dict.fromkeys([*self.lists, *used.lists]):
            if name not in used.lists or name not in self.lists:
                present = ("registered", "") if name in self.lists else ("", "used")
                rows.append((name, "list", *present))
            else:
                rows += _differences(name, self.lists[name], used.lists[name])
        return pd.DataFrame(rows, columns=["list", "setting", "registered", "used"])

    @property
    def text(self) -> str:
        """Describe the registration in a sentence."""
        return f"A registration of {counted(len(self.lists), 'list')}: {joined(list(self.lists))}."

    @property
    def layout(self) -> Layout:
        """Show the settings of the analysis."""
        return Layout(
            list(self.settings), [Column("registered", list(map(_as_text, self.settings.values())), words=True)]
        )


def _differences(name: str, registered: Mapping[str, Any], used: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each setting that differs: the list, the setting, and the registered and used values as text.

    `name` is the list, or "" for settings of the whole analysis. A missing setting is "".
    """
    rows: list[tuple[str, ...]] = []
    for setting in dict.fromkeys([*registered, *used]):
        registered_value = _as_text(registered.get(setting, ""))
        used_value = _as_text(used.get(setting, ""))
        if registered_value != used_value:
            rows.append((name, setting, registered_value, used_value))
    return rows


def _as_text(value: Any) -> str:
    """Return a text unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_registration(registered: Any) -> Registration | None:
    """Return a registration, which may be passed as a file, or None if there is no registration.

    Raises
    ------
    BayesBiasError
        If the argument is of another type, or if the file is not a registration.
    """
    if isinstance(registered, str | Path):
        return Registration.load(registered)
    if registered is not None:
        remedy = "not a registration. Pass the result of `bayes_bias.register`, or the name of its file."
        check_kind("registered", registered, Registration, remedy)
    return registered


def registration_of(
    tables: Sequence[AssociationTable],
    spec: ModelSpec,
    scopes: Sequence[str],
    *,
    ci_prob: float,
    rope: float | None,
    contrasts: Sequence[str],
    seed: int,
    sampling: Sampling,
) -> Registration:
    """Return the registration of an analysis: its decision rule, model, and settings, and the words of each list.

    `scopes` has the scope of each table. Settings are stored as plain numbers, because JSON cannot represent NumPy
    numbers.
    """
    rule = (
        "A bias is distinguishable from noise if the probability of a difference at least as large, in either"
        f" direction, if there were no bias, is below {100 * (1 - ci_prob):.4g}%. Several lists are adjusted by"
        " Holm's procedure."
    )
    settings = {
        "decision_rule": rule,
        "ci_prob": float(ci_prob),
        "rope": None if rope is None else float(rope),
        "contrasts": list(contrasts),
        "model": spec.name,
        "model_sha256": spec.sha256,
        "priors": {name: prior.exact for name, prior in spec.priors.items()},
        "options": dict(spec.options),
        "seed": int(seed),
    }
    for field in fields(sampling):
        number = getattr(sampling, field.name)
        settings[field.name] = int(number) if isinstance(number, Integral) else float(number)
    lists = {table.name: _registered_list(table, scope) for table, scope in zip(tables, scopes, strict=True)}
    return Registration(settings, lists)


def _registered_list(table: AssociationTable, scope: str) -> dict[str, Any]:
    """Return the words of a list, and the hashes and settings of its table.

    The provenance of the table shows how it was measured. Entries such as paths, which are in _NOT_REGISTERED, may
    differ between computers.
    """
    provenance = {key: str(value) for key, value in table.provenance.items() if key not in _NOT_REGISTERED}
    classes = (*table.associated_classes, *table.controls)
    return {
        "groups": {group: words_of_category(table, "target", group) for group in table.groups},
        "classes": {name: words_of_category(table, "attribute", name) for name in classes},
        "stereotypes": dict(table.stereotypes),
        "controls": list(table.controls),
        "metric": table.metric.name,
        "covariates": {side: list(names) for side, names in table.covariates.items()},
        "scope": scope,
        **provenance,
        "table_sha256": table.sha256,
    }
