"""`bayes-bias pairs`: how often does a model prefer the stereotypical sentence of a pair, and how sure is that?"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    FIGURES,
    INPUT,
    MODEL,
    CiOption,
    FiguresOption,
    OverwriteOption,
    PairsSampler,
    SeedOption,
    formats_of,
    takes_sampling,
)
from bayes_bias.errors import BayesBiasError, did_you_mean
from bayes_bias.files import check_output, whole_file
from bayes_bias.formatting import bounds, level, probability, signed
from bayes_bias.progress import Progress
from bayes_bias.reports import check_folder
from bayes_bias.resources import table_file
from bayes_bias.results.spreadsheets import csv_text, read_csv
from bayes_bias.sentence_pairs.estimands import PAIR_SCOPES, PairScope
from bayes_bias.sentence_pairs.found import Pairs, PairsChange
from bayes_bias.sentence_pairs.scores import DECIMALS
from bayes_bias.sentence_pairs.told import ends, number

# How sentences are scored, and which kind of language model has such a score.
_HOW = ("pll", "aul", "aula", "likelihood")


@app.command()
@takes_sampling
def pairs(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.csv",
            help="A row for each pair: item, score_more and score_less (or difference), perhaps bias_type, writer,"
            " template, term, model; or as CrowS-Pairs' program writes them; or a shipped table (pairs-demo). With"
            " --model sentences instead of scores.",
        ),
    ],
    after: Annotated[
        str | None,
        typer.Option(
            help="Scores of the same items after debiasing; with --model the folder of that model.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for page, tables, figures, methods text, posteriors."),
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Language model that scores the sentences of FILE first.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    how: Annotated[
        str,
        typer.Option(
            help="Score: pll, aul, aula (masked models) or likelihood (causal ones).", rich_help_panel=INPUT
        ),
    ] = "pll",
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Keep the scores of --model in this CSV file.", rich_help_panel=INPUT),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(help="Whose rows, where FILE has a column model with several.", rich_help_panel=INPUT),
    ] = None,
    decimals: Annotated[
        str,
        typer.Option(help="To how many decimals scores are rounded before they are compared, or 'none'."),
    ] = str(DECIMALS),
    spec: Annotated[
        str,
        typer.Option(
            "--priors", help="TOML file with other priors; see `models pairs`.", rich_help_panel=MODEL
        ),
    ] = "pairs",
    scope: Annotated[
        str,
        typer.Option(
            help=f"New pairs of new writers (all), of the same ones (pairs), exactly these: {', '.join(PAIR_SCOPES)}.",
            rich_help_panel=MODEL,
        ),
    ] = "all",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    sampler: PairsSampler,
) -> None:
    """How often does a model prefer the stereotypical sentence of a pair, and how sure is that?

    Example: bayes-bias pairs pairs-demo --after pairs-demo-even --out pairs
    """
    formats = formats_of(figures)
    if out_folder is not None:
        check_folder(out_folder, overwrite)
    if scores is not None:
        check_output(scores, overwrite, "--scores")
        if model is None:
            raise BayesBiasError(
                f"--scores: '{scores}' is to hold scores of a model; name one with --model FOLDER"
            )
    ask = partial(
        bb.pairs,
        model=spec,
        of=of,
        name=Path(file).stem,
        decimals=_decimals(decimals),
        scope=cast(PairScope, scope),
        ci_prob=ci_prob,
        seed=seed,
        sampling=sampler.sampling,
    )
    with progress_bar() as progress:
        first: str | pd.DataFrame = file
        second: str | pd.DataFrame | None = after
        if model is not None:
            score = _scorer(file, how, progress)
            first, second = score(model), None if after is None else score(after)
            if scores is not None:
                _keep(first, scores, overwrite)
        found = ask(first, progress=progress) if second is None else ask(first, second, progress=progress)
        if out_folder is not None:
            page = bb.write(found, out_folder, overwrite=overwrite, figures=formats)
    _show(found)
    if out_folder is not None:
        say(f"\nThe report is in {page}")


def _decimals(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal():
        raise BayesBiasError(f"--decimals: '{text}' is no number of decimals; give one such as 3, or none")
    return int(text)


def _scorer(file: str, how: str, progress: Progress) -> Callable[[str], pd.DataFrame]:
    """Scores of the sentences of a file, by the folder of a language model: imported now, as it needs PyTorch."""
    if how not in _HOW:
        raise BayesBiasError(f"--how: '{how}' is no score of sentences; {did_you_mean(how, _HOW)}")
    path = table_file(file)
    if not path.is_file():
        raise BayesBiasError(f"FILE: no file '{file}'; give the path of a CSV file with sentences")
    kind, load = ("causal", "load_causal") if how == "likelihood" else ("masked", "load_masked")
    opened = getattr(import_module(f"bayes_bias.language_models.{kind}"), load)
    score_pairs = import_module("bayes_bias.language_models.pair_scores").score_pairs
    sentences = read_csv(path)
    return lambda folder: score_pairs(opened(folder), sentences, how, progress=progress)


def _keep(scores: pd.DataFrame, path: Path, overwrite: bool) -> None:
    with whole_file(path, overwrite) as unfinished:
        unfinished.write_text(csv_text(scores, index=False), encoding="utf-8")


def _show(found: Pairs | PairsChange) -> None:
    changed = isinstance(found, PairsChange)
    what, unit = ("Change of how", "percentage points") if changed else ("How", "%")
    table = found.table.loc["share"]
    print_frame(
        pd.DataFrame(
            {
                "pairs": table.pairs,
                "observed": [number(each, changed) for each in table.observed],
                "posterior": [number(each, changed) for each in table["mean"]],
                f"{level(found.ci_prob)} interval": _intervals(table.lower, table.upper, changed),
                "P(more)" if changed else "P(> ½)": table.prob_above.map(probability),
            }
        ).rename_axis(""),
        title=f"{what} often the stereotypical sentence is ahead, in {unit}: {found.name}",
    )
    sides = found.before.scores if isinstance(found, PairsChange) else found.scores
    table, decimals = found.table.loc["difference"], sides.association.decimals
    print_frame(
        pd.DataFrame(
            {
                "observed": [signed(each, decimals) for each in table.observed],
                "posterior": [signed(each, decimals) for each in table["mean"]],
                f"{level(found.ci_prob)} interval": [
                    bounds(*both, decimals) for both in zip(table.lower, table.upper, strict=True)
                ],
                "P(above zero)": table.prob_above.map(probability),
            }
        ).rename_axis(""),
        title=f"{what} far, in {sides.association.unit}",
    )
    say(f"\n{found.text}")


def _intervals(lower: "pd.Series[float]", upper: "pd.Series[float]", changed: bool) -> list[str]:
    return [ends(*both, changed) for both in zip(lower, upper, strict=True)]
