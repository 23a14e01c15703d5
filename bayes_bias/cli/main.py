"""The commands of `bayes-bias`."""

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.baselines.permutation import Alternative
from bayes_bias.cli.app import app
from bayes_bias.cli.console import complain, print_frame, progress_bar, say, show_notices
from bayes_bias.cli.options import (
    MODEL,
    AllowLossOption,
    AssociateOption,
    CiOption,
    ControlsOption,
    EmbeddingOption,
    EmbeddingsOption,
    ModelOption,
    ScopeOption,
    SeedOption,
    Source,
    Sources,
    TrustOption,
    controls_of,
    cosines_from_csv,
    read_cosines,
)
from bayes_bias.diagnostics import Diagnostics
from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.output import check_output
from bayes_bias.report import CALIBRATION_DRAWS, Report, check_folder, numbers
from bayes_bias.resources import shipped
from bayes_bias.scopes import Scope
from bayes_bias.specs import load_spec, spec_names
from bayes_bias.wordlists import control_names, load_wordlist, wordlist_names


@app.command()
def report(
    lists: Sources,
    out_folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path("report"),
    embedding: EmbeddingsOption = None,
    controls: ControlsOption = "neutral,human",
    associate: AssociateOption = None,
    model: ModelOption = "crossed",
    scope: ScopeOption = "both",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    calibration_draws: Annotated[
        int,
        typer.Option(
            min=0,
            help="Random nulls of each list's design, to count false findings; 0 for none.",
            rich_help_panel=MODEL,
        ),
    ] = CALIBRATION_DRAWS,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
) -> None:
    """A posterior bias report that a paper can cite: page, tables, figures, methods text.

    Example: bayes-bias report weat6 weat7 gender --out report
    """
    check_folder(out_folder)
    sources = [cosines_from_csv(Path(each), associate) if each.endswith(".csv") else each for each in lists]
    with progress_bar() as progress:
        made = bb.report(
            sources,
            embedding or ["googlenews-demo"],
            controls=controls_of(controls),
            model=model,
            scope=cast(Scope, scope),
            ci_prob=ci_prob,
            seed=seed,
            calibration_draws=calibration_draws,
            allow_loss=allow_loss,
            trust=trust,
            progress=progress,
        )
        progress.step(f"writing {out_folder}")
        page = made.write(out_folder)
    print_frame(_overview(made))
    for section in made.sections:
        say(f"{section.name}: {section.verdict.text}")
    say(f"\nThe report is in {page}")


def _overview(made: Report) -> pd.DataFrame:
    """The report's table as a terminal of 80 columns holds it."""
    rows = made.table()
    return pd.DataFrame(
        {
            "WEAT d": rows.weat_d.map(lambda d: numbers.plain(d, 2)),
            "p": rows.weat_p.map(numbers.probability),
            "bias": rows.bias.map(numbers.cosine),
            f"{numbers.level(made.ci_prob)} interval": list(map(numbers.bounds, rows.lower, rows.upper)),
            "verdict": rows.verdict,
        }
    )


@app.command()
def fit(
    source: Source,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="netCDF file for the fit.")] = None,
    embedding: EmbeddingOption = "googlenews-demo",
    controls: ControlsOption = "neutral,human",
    associate: AssociateOption = None,
    model: ModelOption = "crossed",
    scope: ScopeOption = "both",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    draws: Annotated[
        int, typer.Option(min=100, help="Draws kept in each chain.", rich_help_panel=MODEL)
    ] = 1500,
    tune: Annotated[
        int, typer.Option(min=100, help="Warm-up draws in each chain.", rich_help_panel=MODEL)
    ] = 1000,
    chains: Annotated[int, typer.Option(min=2, help="Number of chains.", rich_help_panel=MODEL)] = 4,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
) -> None:
    """Fit a model to one list, print the main estimands, and keep the posterior.

    Example: bayes-bias fit weat7 --out weat7.nc
    """
    if out_file is not None:
        check_output(out_file)
    with progress_bar() as progress:
        progress.step(f"{source}: measuring cosines")
        cosines = read_cosines(source, embedding, controls, associate, allow_loss, trust)
        posterior = bb.fit(
            cosines, model, seed=seed, draws=draws, tune=tune, chains=chains, progress=progress
        )
        if out_file is not None:
            bb.save_fit(posterior, out_file)
    print_frame(_main_rows(bb.summarize(posterior, cast(Scope, scope), ci_prob=ci_prob)))
    if posterior.attrs["structure"] == "crossed":
        say(bb.verdict(posterior, cast(Scope, scope), ci_prob=ci_prob).text)
    if out_file is not None:
        say(f"The fit is in {out_file}")


@app.command()
def summarize(
    fit_file: Annotated[
        Path, typer.Argument(metavar="FIT.nc", help="A fit that `bayes-bias fit --out` made.")
    ],
    scope: ScopeOption = "both",
    ci_prob: CiOption = 0.95,
    csv: Annotated[bool, typer.Option("--csv", help="All columns and rows, as CSV.")] = False,
    words: Annotated[bool, typer.Option("--words", help="Word-level rows too.")] = False,
) -> None:
    """Summarise a fit: every estimand with interval, probability of direction and noise floor.

    Example: bayes-bias summarize weat7.nc --scope targets --csv > weat7.csv
    """
    loaded = bb.load_fit(fit_file)
    summary = bb.summarize(loaded, cast(Scope, scope), ci_prob=ci_prob)
    if csv:
        typer.echo(summary.to_csv(), nl=False)
        return
    print_frame(_shown(summary) if words else _main_rows(summary))
    if concern := Diagnostics.of(loaded).concern:
        say(f"{loaded.attrs['name']}: {concern}")


@app.command()
def weat(
    source: Source,
    embedding: EmbeddingOption = "googlenews-demo",
    associate: AssociateOption = None,
    alternative: Annotated[str, typer.Option(help="greater, less or two-sided.")] = "greater",
    ddof: Annotated[
        int, typer.Option(min=0, max=1, help="1 as published, 0 for the population formula.")
    ] = 1,
    permutations: Annotated[
        int | None,
        typer.Option(min=1, help="Draw so many random partitions instead of deciding by their number."),
    ] = None,
    seed: SeedOption = 1,
    allow_loss: AllowLossOption = False,
    trust: TrustOption = False,
) -> None:
    """WEAT's effect size, statistic and permutation p-value.

    Example: bayes-bias weat weat7 --alternative two-sided
    """
    cosines = read_cosines(source, embedding, "none", associate, allow_loss, trust)
    result = bb.weat(
        cosines, alternative=cast(Alternative, alternative), ddof=ddof, permutations=permutations, seed=seed
    )
    how = "all" if result.exact else "random"
    row = {"effect size d": result.effect_size, "statistic": result.statistic, "p": result.p_value}
    print_frame(pd.DataFrame([{"list": cosines.name, **row, "partitions": f"{how} {result.partitions:,}"}]))


@app.command()
def wordlists(
    name: Annotated[str | None, typer.Argument(metavar="[LIST]", help="Show one list.")] = None,
) -> None:
    """The shipped word lists, or one of them with its words, source and errata.

    Example: bayes-bias wordlists weat7
    """
    if name is None:
        rows = [(n, load_wordlist(n)) for n in wordlist_names()]
        frame = [
            {"list": n, "title": w.title, "targets": len(w.targets), "attributes": len(w.attributes)}
            for n, w in rows
        ]
        print_frame(pd.DataFrame(frame))
        say(f"control classes: {', '.join(control_names())}")
        return
    _print_wordlist(load_wordlist(name))


def _print_wordlist(words: Any) -> None:
    say(f"{words.title}\n{words.description}\n")
    for group, members in words.groups.items():
        say(f"{group} (→ {words.associations[group]}): {', '.join(members)}")
    for name, members in {**words.classes, **words.controls}.items():
        say(f"{name}: {', '.join(members)}")
    for erratum in words.errata:
        say(f"erratum: {erratum}")
    say(f"\n{words.source.citation} doi:{words.source.doi}")


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Show one model.")] = None,
    copy: Annotated[Path | None, typer.Option(help="Write the model's TOML here, to be edited.")] = None,
) -> None:
    """The shipped models, or one of them with its priors; a copy of one to change the priors in.

    Example: bayes-bias models crossed --copy my-model.toml
    """
    if name is None:
        print_frame(pd.DataFrame([{"model": n, "title": load_spec(n).title} for n in spec_names()]))
        return
    spec = load_spec(name)
    say(f"{spec.title}\n{spec.description}\n")
    print_frame(pd.DataFrame([{"parameter": p, "prior": str(prior)} for p, prior in spec.priors.items()]))
    if copy is not None:
        _copy_model(name, copy)


def _copy_model(name: str, path: Path) -> None:
    if path.exists():
        raise OutputError(f"--copy: '{path}' exists already; choose another name")
    try:
        path.write_text((shipped("models") / f"{name}.toml").read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"--copy: cannot write '{path}': {error.strerror}") from error
    say(f"Copied to {path}; use it with --model {path}")


def _shown(summary: pd.DataFrame) -> pd.DataFrame:
    interval = [c for c in summary.columns if str(c).endswith(("_lb", "_ub"))]
    return summary[
        ["mean", *interval, "prob_direction", "observed", "noise_sd", "prob_noise", "r_hat", "ess_bulk"]
    ]


def _main_rows(summary: pd.DataFrame) -> pd.DataFrame:
    by_word = ("target_bias", "attribute_bias", "target_connection_mean")
    return _shown(summary[~summary.index.get_level_values("estimand").isin(by_word)])


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command; an error is one line and exit code 2, a traceback only with --debug."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    show_notices()
    try:
        status = app([a for a in given if a != "--debug"], standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped", 130)
    except Exception as error:
        if debug:
            raise
        _fail(_one_line(error), 2)
    sys.exit(status if isinstance(status, int) else 0)


def _one_line(error: Exception) -> str:
    if isinstance(error, typer.TyperException):
        return " ".join(error.format_message().split())
    if isinstance(error, BayesBiasError):
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; run again with --debug to see where".replace(
        "\n", " "
    )


def _fail(message: str, status: int) -> NoReturn:
    complain(f"error: {message}")
    sys.exit(status)
