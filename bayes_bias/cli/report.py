"""`bayes-bias report`: the main job."""

from functools import partial
from pathlib import Path
from typing import Annotated, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    DEMO,
    FIGURES,
    MODEL,
    AllowLossOption,
    CiOption,
    ControlsOption,
    FiguresOption,
    ListsArgument,
    ModelOption,
    OverwriteOption,
    ReplicatesOption,
    RopeOption,
    Sampler,
    ScopeOption,
    SeedOption,
    SentenceModel,
    SideBySideOption,
    StereotypesOption,
    TrustOption,
    controls_of,
    embedding_of,
    formats_of,
    holds_cosines,
    read_table,
    table_from_csv,
    takes_sampling,
    takes_sentence_model,
)
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.formatting import bounds, level, plain, probability, signed
from bayes_bias.reports import CALIBRATION_DRAWS, Report, check_folder


@app.command()
@takes_sampling
@takes_sentence_model
def report(
    lists: ListsArgument,
    out_folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path("report"),
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    embedding: SideBySideOption = DEMO,
    replicates: ReplicatesOption = None,
    controls: ControlsOption = "neutral,human",
    stereotypes: StereotypesOption = None,
    model: ModelOption = "crossed",
    scope: ScopeOption = DEFAULT_SCOPE,
    ci_prob: CiOption = 0.95,
    rope: RopeOption = None,
    seed: SeedOption = 1,
    calibration_draws: Annotated[
        int,
        typer.Option(
            min=0,
            help="Random nulls of each list's design, to count false findings; 0 for none.",
            rich_help_panel=MODEL,
        ),
    ] = CALIBRATION_DRAWS,
    against_published: Annotated[
        bool,
        typer.Option(
            "--against-published",
            help="Fit the published model, too, and compare how well either predicts; it doubles the time.",
            rich_help_panel=MODEL,
        ),
    ] = False,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
    *,
    sampler: Sampler,
    reader: SentenceModel,
) -> None:
    """A posterior bias report that a paper can cite: page, tables, figures, methods text.

    Example: bayes-bias report weat6 weat7 gender --out report
    """
    formats = formats_of(figures)
    check_folder(out_folder, overwrite)
    sources = [
        table_from_csv(Path(each), stereotypes, replicates)
        if holds_cosines(each) and not reader.is_given
        else each
        for each in lists
    ]
    with progress_bar() as progress:
        if reader.masked is not None:
            sources = [
                read_table(
                    each, embedding, replicates, controls, stereotypes, allow_loss, trust, reader, progress
                )
                for each in lists
            ]
        made = bb.report(
            sources,
            embedding
            if replicates is None and reader.encoder is None
            else embedding_of(embedding, replicates, trust, reader, lists, controls, progress),
            controls=controls_of(controls),
            model=model,
            scope=cast(ScopeName, scope),
            ci_prob=ci_prob,
            rope=rope,
            seed=seed,
            sampling=sampler.sampling,
            calibration_draws=calibration_draws,
            against_published=against_published,
            allow_loss=allow_loss,
            trust=trust,
            progress=progress,
        )
        progress.step(f"writing {out_folder}")
        page = bb.write(made, out_folder, overwrite=overwrite, figures=formats)
    print_frame(_overview(made))
    if len(made.sections) > 1:
        print_frame(_together(made))
        say(f"{made.together}\n")
    for section in made.sections:
        say(f"{section.name}: {section.verdict.text}")
    say(f"\nThe report is in {page}")


def _overview(made: Report) -> pd.DataFrame:
    """The report's table as a terminal of 80 columns holds it."""
    rows, decimals = made.table(), made.association.decimals
    return pd.DataFrame(
        {
            "WEAT d": rows.weat_d.map(lambda d: plain(d, 2)),
            "p": rows.weat_p.map(probability),
            "bias": rows.bias.map(partial(signed, decimals=decimals)),
            f"{level(made.ci_prob)} interval": list(
                map(partial(bounds, decimals=decimals), rows.lower, rows.upper)
            ),
            "verdict": rows.verdict,
        }
    )


def _together(made: Report) -> pd.DataFrame:
    """Chances of all lists beside each other, before and after Holm's adjustment."""
    rows = made.together.table
    return pd.DataFrame(
        {
            "chance": rows.prob_chance.map(probability),
            "after Holm": rows.prob_holm.map(probability),
            "still distinguishable": rows.survives.map({True: "yes", False: "no"}),
        }
    )
