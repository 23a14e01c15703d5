"""`bayes-bias tpr`: does a classifier recognise some groups less often than others?"""

from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import (
    FIGURES,
    CiOption,
    FiguresOption,
    OverwriteOption,
    Sampler,
    SeedOption,
    formats_of,
    takes_sampling,
)
from bayes_bias.formatting import bounds, estimate, level, plain, probability, signed
from bayes_bias.gaps.result import DECIMALS, MEAN_GAP, Gaps
from bayes_bias.reports import check_folder


@app.command()
@takes_sampling
def tpr(
    file: Annotated[
        str, typer.Argument(metavar="FILE.csv", help="A row for each person; or a shipped table (tpr-demo).")
    ],
    y: Annotated[str, typer.Option("--y", help="Column with the true class.")] = "y",
    prediction: Annotated[str, typer.Option(help="Column with the predicted class.")] = "prediction",
    group: Annotated[str, typer.Option(help="Column with the group, such as gender.")] = "group",
    of: Annotated[
        str | None, typer.Option(help="Whose gap is told; by default the first of two, each of more.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out classes without people of a group.")
    ] = False,
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for page, tables, figure, methods, posterior.")
    ] = None,
    overwrite: OverwriteOption = False,
    figures: FiguresOption = FIGURES,
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    sampler: Sampler,
) -> None:
    """Gaps of a classifier's true-positive rates between groups, class by class, with uncertainty.

    Example: bayes-bias tpr tpr-demo --of F --out gaps
    """
    formats = formats_of(figures)
    if out_folder is not None:
        check_folder(out_folder, overwrite)
    with progress_bar() as progress:
        found = bb.tpr_gaps(
            y,
            prediction,
            group,
            data=file,
            of=of,
            leave_out=leave_out,
            ci_prob=ci_prob,
            seed=seed,
            sampling=sampler.sampling,
            name=Path(file).stem,
            progress=progress,
        )
        if out_folder is not None:
            page = bb.write(found, out_folder, overwrite=overwrite, figures=formats)
    _show(found)
    if out_folder is not None:
        say(f"\nThe gaps are in {page}")


def _show(found: Gaps) -> None:
    whose = f"{found.of[0]} less {found.rest}" if len(found.of) == 1 else "each group less all others"
    print_frame(_classes(found), title=f"Gaps of true-positive rates: {whose}")
    print_frame(_aggregate(found), title="Over all classes")
    say(
        "no gaps: raw value to be expected if no class had a gap; chance: of so large a one then; unbiased: root of an"
        " unbiased mean square. The posterior of a size lies too high where people are few."
    )
    say(f"\n{found.text}")


def _classes(found: Gaps) -> pd.DataFrame:
    rows = found.table.sort_values("gap", ascending=False)
    index = rows.index.droplevel("group") if len(found.of) == 1 else rows.index
    people = [f"{own:,}/{rest:,}" for own, rest in zip(rows.people, rows.people_rest, strict=True)]
    return pd.DataFrame(
        {
            "people": people,
            "raw": rows.raw.map(signed).to_numpy(),
            "gap": rows.gap.map(signed).to_numpy(),
            f"{level(found.ci_prob)} interval": list(map(bounds, rows.lower, rows.upper)),
            "P(sign)": rows.prob_direction.map(probability).to_numpy(),
        },
        index=index,
    )


def _aggregate(found: Gaps) -> pd.DataFrame:
    written = {str(name): _quantity(str(name), row) for name, row in found.aggregate.iterrows()}
    return pd.DataFrame.from_dict(written, orient="index").rename_axis("quantity")


def _quantity(name: str, row: "pd.Series[float]") -> dict[str, str]:
    """Mean gaps have a sign, sizes have none."""
    sign, decimals = "+" if name.startswith(MEAN_GAP) else "", DECIMALS.get(name, 3)
    number = partial(signed if sign else plain, decimals=decimals)
    return {
        "raw": number(row.raw),
        "no gaps": number(row.without_gaps),
        "chance": probability(row.chance),
        "unbiased": number(row.unbiased),
        "posterior": estimate(row.estimate, row.lower, row.upper, decimals, sign=sign),
    }
