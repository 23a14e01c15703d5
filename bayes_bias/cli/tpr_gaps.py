"""`bayes-bias tpr-gaps`: does a classifier recognise some groups less often than others?"""

from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.analyses.tpr_gaps.results import DECIMALS, MEAN_GAP, TprGaps
from bayes_bias.cli.app import app
from bayes_bias.cli.console import progress_bar, say
from bayes_bias.cli.frames import print_frame
from bayes_bias.cli.options import CiOption, OutputFolder, Sampler, SeedOption, with_options
from bayes_bias.formatting import bounds, estimate, level, plain, probability, signed
from bayes_bias.table.columns import interval_of


@app.command()
@with_options
def tpr_gaps(
    file: Annotated[
        str, typer.Argument(metavar="FILE.csv", help="A row for each person; or a shipped table (tpr-demo).")
    ],
    y: Annotated[str, typer.Option("--y", help="Column with the true class.")] = "y",
    prediction: Annotated[str, typer.Option(help="Column with the predicted class.")] = "prediction",
    group: Annotated[str, typer.Option(help="Column with the group, such as gender.")] = "group",
    of: Annotated[
        str | None, typer.Option(help="Group whose gap is shown; by default the first of two, or each of more.")
    ] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Leave out classes without people of a group.")
    ] = False,
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    *,
    output: OutputFolder,
    sampler: Sampler,
) -> None:
    """Gaps of a classifier's true-positive rates between groups, class by class, with uncertainty.

    Example: bayes-bias tpr-gaps tpr-demo --of F --out gaps
    """
    with progress_bar():
        result = bb.tpr_gaps.estimate(
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
        )
        page = output.write(result)
    _show(result)
    if page is not None:
        say(f"\nThe gaps are in {page}")


def _show(result: TprGaps) -> None:
    whose = f"{result.of[0]} minus {result.rest}" if len(result.of) == 1 else "each group minus all others"
    print_frame(_classes(result), title=f"Gaps of true-positive rates: {whose}")
    print_frame(_aggregate(result), title="Over all classes")
    say(
        "no gaps: raw value to be expected if no class had a gap; chance: of so large a one then; unbiased: root of an"
        " unbiased mean square. The posterior of a size lies too high where people are few."
    )
    say(f"\n{result.text}")


def _classes(result: TprGaps) -> pd.DataFrame:
    rows = result.table.sort_values("mean", ascending=False)
    index = rows.index.droplevel("group") if len(result.of) == 1 else rows.index
    counts = [f"{people:,}/{rest:,}" for people, rest in zip(rows.people, rows.people_rest, strict=True)]
    return pd.DataFrame(
        {
            "people": counts,
            "observed": rows.observed.map(signed).to_numpy(),
            "gap": rows["mean"].map(signed).to_numpy(),
            f"{level(result.ci_prob)} interval": list(map(bounds, *interval_of(rows))),
            "P(sign)": rows.prob_direction.map(probability).to_numpy(),
        },
        index=index,
    )


def _aggregate(result: TprGaps) -> pd.DataFrame:
    written = {str(name): _quantity(str(name), row) for name, row in result.aggregate.iterrows()}
    return pd.DataFrame.from_dict(written, orient="index").rename_axis("quantity")


def _quantity(name: str, row: "pd.Series[float]") -> dict[str, str]:
    """Mean gaps have a sign, sizes have none."""
    sign, decimals = "+" if name.startswith(MEAN_GAP) else "", DECIMALS.get(name, 3)
    number = partial(signed if sign else plain, decimals=decimals)
    return {
        "observed": number(row.observed),
        "no gaps": number(row.without_gaps),
        "chance": probability(row.chance),
        "unbiased": number(row.unbiased),
        "posterior": estimate(row["mean"], *interval_of(row), decimals, sign=sign),
    }
