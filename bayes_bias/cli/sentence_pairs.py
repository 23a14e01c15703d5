"""The command `sentence-pairs`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.units import DECIMALS, LOG, UNITS, check_unit
from bayes_bias.cli.console import print_layout, progress_bar, say, say_where, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    CiOption,
    FactorsOption,
    IgnoreOption,
    OutputFolder,
    Sampler,
    SeedOption,
    check_outputs,
    input_option,
    model_option,
    reject,
    with_options,
)
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import given_table
from bayes_bias.spreadsheets import read_frame

if TYPE_CHECKING:
    import pandas as pd

    from bayes_bias.analyses.sentence_pairs.estimation import Scores


@app.command()
@with_options
def sentence_pairs(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Table (CSV, Excel, Parquet) with a row for each pair: item, score_more and score_less (or"
            " difference), and optionally bias_type, writer, template, term, model. Alternatively, a file from"
            " CrowS-Pairs' program, a built-in table (pairs-demo), or the samples_*.jsonl that"
            " lm-evaluation-harness logs. With --model, sentences instead of scores.",
        ),
    ],
    output: OutputFolder,
    after: Annotated[
        str | None,
        input_option(help="Scores of the same items after debiasing, or, with --model, the folder of that model."),
    ] = None,
    model: Annotated[
        str | None, input_option(metavar="FOLDER", help="Language model that scores the sentences of FILE first.")
    ] = None,
    how: Annotated[
        str | None, input_option(help="Score: pll (default), aul, aula (masked models) or likelihood (causal ones).")
    ] = None,
    scores: Annotated[Path | None, input_option(help="Keep the scores of --model in this CSV file.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Keep scores and posteriors here, so that a stopped or repeated run computes none again."),
    ] = None,
    of: Annotated[
        str | None, input_option(help="Language model to select, if FILE has several in its column model.")
    ] = None,
    decimals: Annotated[
        str,
        typer.Option(
            help="Decimals to which scores are rounded before they are compared, or 'none'. By default"
            f" {DECIMALS}, and 'none' for logs of the harness."
        ),
    ] = "",
    unit: Annotated[
        str | None, input_option(help=f"Unit of the scores in FILE: {', '.join(UNITS)}. By default log probabilities.")
    ] = None,
    ignore: IgnoreOption = None,
    factors: FactorsOption = None,
    compare_models: Annotated[
        bool,
        model_option(
            "--compare-models",
            help="Compare the models of FILE (column model), the values of --factors, or logs of the harness in"
            " folders, one for each model: differences on the same pairs, and the order of the models.",
        ),
    ] = False,
    spec: Annotated[str, model_option("--priors", help="TOML file with other priors. See `models pairs`.")] = "pairs",
    scope: Annotated[
        str,
        model_option(
            help="Generalise intervals to new pairs of new writers (all), to new pairs of these writers"
            " (pairs), or only to exactly these pairs (none)."
        ),
    ] = "all",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    sampler: Sampler,
) -> None:
    """Estimate how often a model prefers the stereotypical sentence of a pair, with uncertainty.

    Example: bayes-bias sentence-pairs pairs-demo --after pairs-demo-even --out pairs
    """
    from bayes_bias.analyses.sentence_pairs.estimation import SAMPLING
    from bayes_bias.analyses.sentence_pairs.lm_eval import is_log

    file, *more = files
    logs = is_log(file)
    if factors and not compare_models:
        raise BayesBiasError(
            "--factors needs --compare-models, which compares the values of the factors. Add it, or omit --factors."
        )
    settings: dict[str, Any] = {
        "name": Path(file).stem,
        "decimals": _decimals(decimals, logs),
        "unit": check_unit(unit),
        "ignore": ignore or [],
        "scope": scope,
        "ci_prob": ci_prob,
        "seed": seed,
    }
    if compare_models:
        if sampler != Sampler():
            raise BayesBiasError("--draws has no effect on --compare-models. Omit the options of the sampler.")
        priors = None if spec == "pairs" else spec
        reason = "cannot be combined with --compare-models. Omit it."
        reject(reason, after=after, model=model, how=how, of=of, scores=scores, folder=folder, priors=priors)
        with progress_bar():
            compared = _by_folder(files, settings["decimals"]) if logs else file
            contrasts = bb.sentence_pairs.compare_models(compared, factors=factors or [], **settings)
            page = output.deliver(contrasts=contrasts)
        for topic in contrasts.topics:
            print_layout(contrasts.order([topic]))
            print_layout(contrasts.differences([topic]))
        _say_result(contrasts.text, page)
        return
    if more and not all(map(is_log, files)):
        raise BayesBiasError(f"FILE: there are {len(files)} files. Name one, or several samples_*.jsonl of one model.")
    check_outputs(output.overwrite, scores=scores)
    if model is None:
        reject("applies to the scores of a model. Name the model with --model FOLDER.", scores=scores, how=how)
    elif unit != LOG:
        reject("applies to scores in FILE, but --model computes its own. Omit one of them.", unit=unit)
        settings["unit"] = LOG
    with progress_bar():
        first: Scores
        second: Scores | None = None
        if model is None:
            first = _read(files, decimals)
            second = None if after is None else _read([after], decimals)
        else:
            score = _scorer(file, how or "pll", folder)
            first = scored = score(model)
            if scores is not None:
                write_csv(scored, scores, output.overwrite)
            second = None if after is None else score(after)
        sampling = sampler.with_tuning(SAMPLING)
        estimate: Any = bb.sentence_pairs.estimate
        result = estimate(first, second, **settings, model=spec, of=of, folder=folder, sampling=sampling)
        page = output.deliver(sentence_pairs=result)
    print_layout(result.layout)
    print_layout(result.difference_layout)
    _say_result(result.text, page)


def _say_result(text: str, page: Path | None) -> None:
    """Print a result, and the path of its page if there is one."""
    say(f"\n{text}")
    say_where("\nThe report is in", page)


def _by_folder(files: list[str], decimals: int | None) -> "dict[str, Scores]":
    """Read logs of lm-evaluation-harness, and return the scores of each model by the name of its folder.

    The harness writes one folder for each model, with one or several logs. If folders of different models have the same
    name, names begin with as many of the folders above as make them different, such as "run1/results".
    """
    logs_by_folder: dict[Path, list[str]] = {}
    for file in files:
        logs_by_folder.setdefault(Path(file).absolute().parent, []).append(file)
    depth = 1
    while len({folder.parts[-depth:] for folder in logs_by_folder}) < len(logs_by_folder):
        depth += 1
    return {
        Path(*folder.parts[-depth:]).as_posix(): bb.sentence_pairs.lm_eval(logs, decimals=decimals)
        for folder, logs in logs_by_folder.items()
    }


def _read(files: list[str], decimals: str) -> "Scores":
    """Return scores in a form that `estimate` accepts: logs of lm-evaluation-harness as scores, and a file by its name.

    Several files are logs of one model. Any other file is the only one, and `estimate` reads it.
    """
    from bayes_bias.analyses.sentence_pairs.lm_eval import is_log

    return bb.sentence_pairs.lm_eval(files, decimals=_decimals(decimals, True)) if is_log(files[0]) else files[0]


def _decimals(text: str, logs: bool) -> int | None:
    """Return the number in --decimals, or None for unrounded scores, which is the default for `logs` of the harness."""
    if not text:
        return None if logs else DECIMALS
    if text == "none":
        return None
    if not text.isdecimal():
        raise BayesBiasError(f"--decimals '{text}' is not a number of decimals. Use a number such as 3, or none.")
    return int(text)


def _scorer(file: str, how: str, folder: Path | None) -> "Callable[[str], pd.DataFrame]":
    """Return a function that computes the scores of the sentences in a file, given the folder of a language model.

    `how` is the kind of score. Only likelihoods need a causal model. Scores are kept in `folder`, if there is one, so
    that a repeated run does not compute them again.
    """
    from bayes_bias.analyses.sentence_pairs.scoring import HOW, How, kept_scores, opened

    if how not in HOW:
        raise BayesBiasError(f"--how '{how}' is not a score of sentences.", how, HOW)
    path = given_table(file, "FILE", BayesBiasError, "Pass the path of a CSV file with sentences.")
    sentences = read_frame(path, f"FILE: '{path}'", BayesBiasError)
    load = bb.language_models.load_causal if how == "likelihood" else bb.language_models.load_masked
    store = opened(folder)
    return lambda model: kept_scores(store, load(model), sentences, cast(How, how))
