"""Scores of sentence pairs by a language model, and the folder that keeps scores and posteriors."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayes_bias.analyses.sentence_pairs.scores import CROWS_PAIRS, LABELS, with_our_names
from bayes_bias.arguments import check_kind, check_path, kind_of
from bayes_bias.errors import LanguageModelError, OutputError
from bayes_bias.files import check_home, whole_file
from bayes_bias.fitting.diagnostics import Diagnostics
from bayes_bias.fitting.fit_model import Source, fit_attributes, warn_of
from bayes_bias.fitting.sampling import Sampling
from bayes_bias.fitting.storage import load_fit, save_posterior
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import advance, step

type How = Literal["pll", "aul", "aula", "likelihood"]

# For each kind of score, the name of the method that computes the score, and the kind of model that has this method.
HOW: Mapping[str, tuple[str, str]] = {
    "pll": ("pseudo_log_likelihood", "a masked language model (load_masked)"),
    "aul": ("all_unmasked", "a masked language model (load_masked)"),
    "aula": ("all_unmasked", "a masked language model (load_masked)"),
    "likelihood": ("log_likelihood", "a causal language model (load_causal)"),
}

SENTENCES = ("sentence_more", "sentence_less")
_AT_A_TIME = 64


def score(model: Any, frame: pd.DataFrame, how: How = "pll") -> pd.DataFrame:
    r"""Compute the scores of both sentences of each pair with a language model.

    Let :math:`w` be the tokens of a sentence, :math:`U` the tokens that occur in both sentences, and :math:`w_{<i}` the
    tokens before token i. The scores are

    .. math:: \mathrm{pll} = \sum_{i \in U} \log p(w_i \mid w_{\setminus i}), \quad
              \mathrm{aul} = \frac{1}{|w|} \sum_i \log p(w_i \mid w), \quad
              \mathrm{likelihood} = \sum_i \log p(w_i \mid w_{<i})

    Parameters
    ----------
    model : MaskedModel or CausalModel
        Model, or any object with a `name` and the method that `how` requires.
    frame : pandas.DataFrame
        A row for each pair. The more and the less stereotypical sentence are in `sentence_more` and `sentence_less` (or
        `sent_more` and `sent_less`, as in CrowS-Pairs). Optional columns are `item`, `bias_type`, `writer` (or
        `anon_writer`), `direction` (or `stereo_antistereo`), `template`, and `term`.
    how : {"pll", "aul", "aula", "likelihood"}
        Pseudo-log-likelihood of the common tokens (CrowS-Pairs [1]_), all-unmasked likelihood without or with attention
        weights [2]_, or log-likelihood of a causal model.

    Returns
    -------
    pandas.DataFrame
        A row for each pair, in the given order: `item`, `score_more`, `score_less` (nats), the labels in the frame,
        `model` and `how`.

    Raises
    ------
    LanguageModelError
        If the model cannot compute the score, if columns are missing, if sentences are missing or empty, if items are
        repeated, or if scores are not finite.

    References
    ----------
    .. [1] Nangia, N., Vania, C., Bhalerao, R., & Bowman, S. R. (2020). CrowS-Pairs: A challenge dataset for measuring
       social biases in masked language models. https://doi.org/10.18653/v1/2020.emnlp-main.154
    .. [2] Kaneko, M., & Bollegala, D. (2022). Unmasking the mask: Evaluating social biases in masked language models.
       Proceedings of AAAI 36(11), 11954-11962. https://doi.org/10.1609/aaai.v36i11.21453

    Examples
    --------
    >>> frame = pd.read_csv("crows_pairs_anonymized.csv")                         # doctest: +SKIP
    >>> score(load_masked("bert-base-uncased"), frame)                            # doctest: +SKIP
    """
    if how not in HOW:
        raise LanguageModelError(f"`how` is {how!r}, which is not a score of sentences.", how, HOW)
    name, kind = HOW[how]
    method = getattr(model, name, None)
    if method is None or not hasattr(model, "name"):
        raise LanguageModelError(f"`model` must be {kind} for the score '{how}', but is {kind_of(model)}.")
    not_a_frame = "not a DataFrame. Read the file with pandas.read_csv."
    check_kind("pairs", frame, pd.DataFrame, not_a_frame, LanguageModelError)
    frame = with_our_names(frame)
    pairs = _pairs(frame)
    items = frame["item"].tolist() if "item" in frame else list(range(len(frame)))
    if len(set(items)) < len(items):
        repeated = next(item for item in items if items.count(item) > 1)
        raise LanguageModelError(f"`pairs` has several rows of the item '{repeated}'. Give each pair its own name.")
    step(f"{model.name}: {len(pairs)} pairs")
    scores = np.empty((len(pairs), 2))  # of the more and the less stereotypical sentence
    for start in range(0, len(pairs), _AT_A_TIME):
        batch = slice(start, start + _AT_A_TIME)
        if how == "pll":  # depends on both sentences of a pair
            scores[batch] = method(pairs[batch])
        else:
            weighted = {} if how == "likelihood" else {"weighted": how == "aula"}
            for side in (0, 1):
                scores[batch, side] = method([pair[side] for pair in pairs[batch]], **weighted)
        advance(min(batch.stop, len(pairs)), len(pairs))
    not_finite = np.argwhere(~np.isfinite(scores))  # each row is the position (pair, side) of a score
    if len(not_finite):
        row, side = not_finite[0]
        raise LanguageModelError(
            f"The score of '{pairs[row][side]}' in `pairs` by '{model.name}' is {scores[row, side]},"
            " which is not a finite number. Its weights may be damaged, so load the model again."
        )
    return pd.DataFrame(
        {
            "item": items,
            "score_more": scores[:, 0],
            "score_less": scores[:, 1],
            **{label: frame[label].to_numpy() for label in LABELS if label in frame},
            "model": model.name,
            "how": how,
        }
    )


def _pairs(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the more and the less stereotypical sentence of each pair.

    Raise an error if a column is missing, if there are no rows, or if a sentence is missing or empty.
    """
    for column in SENTENCES:
        if column not in frame:
            raise LanguageModelError(
                f"`pairs` has no column '{column}' (CrowS-Pairs: '{CROWS_PAIRS[column]}'). Its columns are"
                f" {', '.join(map(str, frame.columns))}."
            )
    if frame.empty:
        raise LanguageModelError("`pairs` has no rows. Pass a row for each pair of sentences.")
    for column in SENTENCES:
        for row, sentence in enumerate(frame[column], 1):
            if not isinstance(sentence, str) or not sentence.strip():
                raise LanguageModelError(
                    f"`pairs`: {column} in row {row} of {len(frame)} must be a sentence, but is {sentence!r}. Write"
                    " one, or remove the row."
                )
    return list(frame[list(SENTENCES)].itertuples(index=False, name=None))


def opened(folder: str | Path | None) -> Path | None:
    """Return the path of the folder for posteriors, or None. The folder is created if it does not exist.

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
    """Return the posterior from the folder that was sampled with the same data, model, versions, seed and sampler.

    If there is none, `sample` is called, and its result is saved immediately. The name of the file contains a hash of
    everything that determines the posterior: `inputs` are the data and labels. Without a folder, nothing is saved.
    """
    if folder is None:
        return sample()
    values = {name: np.asarray(value).tolist() for name, value in inputs.items()}
    key = _key(fit_attributes(source, spec, seed), asdict(sampling), values)
    file = folder / f"posterior-{key}.nc"
    if not file.is_file():
        tree = sample()
        save_posterior(tree, file)
        return tree
    tree = load_fit(file)
    step(f"posterior from {file}")
    warn_of(source.name, Diagnostics.of(tree), True)
    return tree


def kept_scores(folder: Path | None, model: Any, sentences: pd.DataFrame, how: How) -> pd.DataFrame:
    """Return the scores of these sentences by this model from the folder, or compute and store them.

    The name of the file contains a hash of the model, the kind of score, and the sentences.
    """
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
    """Return a hash of inputs, for the name of a file. It has 20 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]
