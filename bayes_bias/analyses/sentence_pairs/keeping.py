"""Storage of scores and posteriors of sentence pairs in a folder, so that they are not computed again.

Most of the time of a run is spent on compilation, because nutpie compiles the density of a PyMC model in every process.
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
from bayes_bias.fitting.fit_model import Source, fit_attributes, warn_of
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.fitting.storage import load_fit, save_posterior
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import step


def opened(folder: str | Path | None) -> Path | None:
    """Return the folder, which is created if it does not exist.

    Raises
    ------
    OutputError
        If the path is a file, or the folder cannot be created.
    """
    if folder is None:
        return None
    path = check_path("folder", folder, OutputError)
    check_home(path, "folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"`folder` '{path}' cannot be created: {reason}. Choose another folder.") from error
    return path


def kept_posterior(
    folder: Path | None,
    sample: Callable[[], xr.DataTree],
    source: Source,
    spec: ModelSpec,
    inputs: Mapping[str, Any],
    seed: int,
    sampling: Sampling,
) -> xr.DataTree:
    """Return the stored posterior for the same data, labels, model, versions, seed and sampler.

    If there is no such posterior, it is sampled and saved immediately.
    """
    if folder is None:
        return sample()
    values = {name: np.asarray(value).tolist() for name, value in inputs.items()}
    file = folder / f"posterior-{_key(fit_attributes(source, spec, seed), asdict(sampling), values)}.nc"
    if not file.is_file():
        tree = sample()
        save_posterior(tree, file)
        return tree
    tree = load_fit(file)
    step(f"posterior from {file}")
    warn_of(source.name, Diagnostics.of(tree), True)
    return tree


def kept_scores(folder: Path | None, model: Any, sentences: pd.DataFrame, how: How) -> pd.DataFrame:
    """Return the stored scores of these sentences by this model, or compute and store the scores."""
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
    """Return a hash of inputs, for the name of a file."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]
