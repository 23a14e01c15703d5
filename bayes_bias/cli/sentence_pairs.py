"""The command `sentence-pairs`."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

import bayes_bias as bb
from bayes_bias.analyses.sentence_pairs.units import DECIMALS, LOG, UNITS, check_unit
from bayes_bias.cli.console import deliver, print_layout, progress_bar, say, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    INPUT,
    MODEL,
    CiOption,
    FactorsOption,
    IgnoreOption,
    OutputFolder,
    Sampler,
    SeedOption,
    with_options,
)
from bayes_bias.errors import BayesBiasError, did_you_mean
from bayes_bias.files import check_output, given_table
from bayes_bias.spreadsheets import read_frame

if TYPE_CHECKING:
    import pandas as pd

    from bayes_bias.analyses.sentence_pairs.estimands import PairScope
    from bayes_bias.analyses.sentence_pairs.estimation import Scores


@app.command()
@with_options
def sentence_pairs(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Table with a row for each pair: item, score_more and score_less (or difference), and"
            " optionally bias_type, writer, template, term, model. Alternatively, a file from"
            " CrowS-Pairs' program, a built-in table (pairs-demo), or the samples_*.jsonl that"
            " lm-evaluation-harness logs. With --model, sentences instead of scores.",
        ),
    ],
    output: OutputFolder,
    after: Annotated[
        str | None,
        typer.Option(
            help="Scores of the same items after debiasing, or, with --model, the folder of that model.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Language model that scores the sentences of FILE first.", rich_help_panel=INPUT
        ),
    ] = None,
    how: Annotated[
        str,
        typer.Option(help="Score: pll, aul, aula (masked models) or likelihood (causal ones).", rich_help_panel=INPUT),
    ] = "pll",
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Keep the scores of --model in this CSV file.", rich_help_panel=INPUT),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Keep scores and posteriors here, so that a stopped or repeated run computes none again."),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(help="Language model to select, if FILE has several in its column model.", rich_help_panel=INPUT),
    ] = None,
    decimals: Annotated[
        str,
        typer.Option(
            help="Decimals to which scores are rounded before they are compared, or 'none'. By default"
            f" {DECIMALS}, and 'none' for logs of the harness."
        ),
    ] = "",
    unit: Annotated[
        str | None,
        typer.Option(
            help=f"Unit of the scores in FILE: {', '.join(UNITS)}. By default log probabilities.", rich_help_panel=INPUT
        ),
    ] = None,
    ignore: IgnoreOption = None,
    factors: FactorsOption = None,
    compare_models: Annotated[
        bool,
        typer.Option(
            "--compare-models",
            help="Compare the models of FILE (column model), the values of --factors, or logs of the harness in"
            " folders, one for each model: differences on the same pairs, and the order of the models.",
            rich_help_panel=MODEL,
        ),
    ] = False,
    spec: Annotated[
        str, typer.Option("--priors", help="TOML file with other priors. See `models pairs`.", rich_help_panel=MODEL)
    ] = "pairs",
    scope: Annotated[
        str,
        typer.Option(
            help="Generalise intervals to new pairs of new writers (all), to new pairs of these writers"
            " (pairs), or only to exactly these pairs (none).",
            rich_help_panel=MODEL,
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
    if compare_models:
        if after is not None or model is not None or of is not None:
            raise BayesBiasError("--compare-models cannot be combined with --after, --model, or --of. Omit them.")
        with progress_bar():
            contrasts = bb.sentence_pairs.compare_models(
                _by_folder(files, _decimals(decimals, True)) if logs else file,
                factors=factors or [],
                name=Path(file).stem,
                decimals=_decimals(decimals, logs),
                unit=check_unit(unit),
                ignore=ignore or [],
                scope=scope,
                ci_prob=ci_prob,
                seed=seed,
            )
            page = output.write(contrasts)
        deliver(contrasts=contrasts)
        for topic in contrasts.topics:
            print_layout(contrasts.order([topic]))
            print_layout(contrasts.differences([topic]))
        _say_result(contrasts.text, page)
        return
    if more and not all(map(is_log, files)):
        raise BayesBiasError(f"FILE: there are {len(files)} files. Name one, or several samples_*.jsonl of one model.")
    if scores is not None:
        check_output(scores, output.overwrite, "--scores")
        if model is None:
            raise BayesBiasError(
                f"--scores '{scores}' is a file to write the scores of a model to. Name the model with --model FOLDER."
            )
    if model is not None and unit not in (None, LOG):
        raise BayesBiasError(
            f"--unit '{unit}' applies to scores in FILE, but --model computes its own. Omit one of them."
        )
    ask = partial(
        bb.sentence_pairs.estimate,
        model=spec,
        of=of,
        name=Path(file).stem,
        decimals=_decimals(decimals, logs),
        unit=check_unit(unit) if model is None else LOG,
        ignore=ignore or [],
        scope=cast("PairScope", scope),
        ci_prob=ci_prob,
        seed=seed,
        folder=folder,
        sampling=replace(sampler.sampling, tune=SAMPLING.tune),
    )
    with progress_bar():
        first: Scores
        second: Scores | None = None
        if model is None:
            first = _read(files, decimals)
            second = None if after is None else _read([after], decimals)
        else:
            score = _scorer(file, how, folder)
            first = scored = score(model)
            if scores is not None:
                write_csv(scored, scores, output.overwrite)
            second = None if after is None else score(after)
        result = ask(first) if second is None else ask(first, second)
        page = output.write(result)
    deliver(sentence_pairs=result)
    print_layout(result.layout)
    print_layout(result.difference_layout)
    _say_result(result.text, page)


def _say_result(text: str, page: Path | None) -> None:
    say(f"\n{text}")
    if page is not None:
        say(f"\nThe report is in {page}")


def _by_folder(files: list[str], decimals: int | None) -> "dict[str, Scores]":
    """Read logs of lm-evaluation-harness by folder. The harness writes one folder for each model."""
    by_folder: dict[str, list[str]] = {}
    for file in files:
        by_folder.setdefault(Path(file).resolve().parent.name, []).append(file)
    return {folder: bb.sentence_pairs.lm_eval(own, decimals=decimals) for folder, own in by_folder.items()}


def _read(files: list[str], decimals: str) -> "Scores":
    """Read logs of lm-evaluation-harness as scores. Return the names of other files, which `estimate` reads."""
    from bayes_bias.analyses.sentence_pairs.lm_eval import is_log

    return bb.sentence_pairs.lm_eval(files, decimals=_decimals(decimals, True)) if is_log(files[0]) else files[0]


def _decimals(text: str, logs: bool) -> int | None:
    if not text:
        return None if logs else DECIMALS
    if text == "none":
        return None
    if not text.isdecimal():
        raise BayesBiasError(f"--decimals '{text}' is not a number of decimals. Use a number such as 3, or none.")
    return int(text)


def _scorer(file: str, how: str, folder: Path | None) -> "Callable[[str], pd.DataFrame]":
    """Return a function that computes the scores of the sentences in a file, given the folder of a language model."""
    from bayes_bias.analyses.sentence_pairs.keeping import kept_scores, opened
    from bayes_bias.analyses.sentence_pairs.scoring import HOW, How

    if how not in HOW:
        raise BayesBiasError(f"--how '{how}' is not a score of sentences. {did_you_mean(how, HOW)}")
    path = given_table(file, "FILE", BayesBiasError, "Pass the path of a CSV file with sentences.")
    sentences = read_frame(path, f"FILE: '{path}'", BayesBiasError)
    load = bb.language_models.load_causal if how == "likelihood" else bb.language_models.load_masked
    keeping = opened(folder)
    return lambda model: kept_scores(keeping, load(model), sentences, cast(How, how))
