"""Scores and posteriors of sentence pairs in a folder, so that a stopped or repeated run computes none of them again.

Most of a run is compiling: nutpie compiles the density of a PyMC model anew in every process.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.sentence_pairs.scoring import How, score
from bayes_bias.arguments import check_path
from bayes_bias.errors import OutputError
from bayes_bias.files import check_home, whole_file
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import Source, described, warn_of
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.fitting.storage import load_fit, save_posterior
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import step


def opened(folder: str | Path | None) -> Path | None:
    """The folder, made if need be.

    Raises
    ------
    OutputError
        It is a file, or cannot be made.
    """
    if folder is None:
        return None
    home = check_path("folder", folder, OutputError)
    check_home(home, "folder")
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"folder: cannot make '{home}': {error.strerror or error}; choose another") from error
    return home


def kept_posterior(
    folder: Path | None,
    sample: Callable[[], xr.DataTree],
    source: Source,
    spec: ModelSpec,
    inputs: Mapping[str, Any],
    seed: int,
    sampling: Sampling,
) -> xr.DataTree:
    """The posterior that the folder has for the same data, labels, model, versions, seed and sampler; or a new one,
    which is saved at once."""
    if folder is None:
        return sample()
    values = {name: np.asarray(each).tolist() for name, each in inputs.items()}
    file = folder / f"posterior-{_key(described(source, spec, seed), asdict(sampling), values)}.nc"
    if not file.is_file():
        tree = sample()
        save_posterior(tree, file)
        return tree
    tree = load_fit(file)
    step(f"posterior from {file}")
    warn_of(source.name, Diagnostics.of(tree), True)
    return tree


def kept_scores(folder: Path | None, model: Any, sentences: pd.DataFrame, how: How) -> pd.DataFrame:
    """The scores that the folder has of the same sentences by the same files of a model; or new ones, saved at once."""
    if folder is None:
        return score(model, sentences, how)
    key = _key(model.transformer.identity(name=model.name, how=how), sentences.to_csv(index=False))
    file = folder / f"scores-{key}.parquet"
    if not file.is_file():
        scores = score(model, sentences, how)
        with whole_file(file) as unfinished:
            scores.to_parquet(unfinished)
        return scores
    step(f"scores from {file}")
    return pd.read_parquet(file)


def _key(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]
