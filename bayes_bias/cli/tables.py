"""The commands that need no sampling: `table`, `weat`, `measures`, and `published`."""

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import bayes_bias as bb
from bayes_bias.cli.console import deliver, print_frame, print_layout, progress_bar, say, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    HEADINGS,
    NUMBERS,
    CiOption,
    ModelOption,
    OverwriteOption,
    Sampler,
    SeedOption,
    SetsOption,
    input_option,
    pairs_of,
    reject,
    with_options,
)
from bayes_bias.cli.table_source import ListArgument, TableSource
from bayes_bias.errors import BayesBiasError, ScopeError, TableError, optional
from bayes_bias.files import check_output, csv_text, given_table
from bayes_bias.formatting import DASH, percent, plain, probability, share_bounds, value_and_interval
from bayes_bias.progress import step
from bayes_bias.spreadsheets import is_spreadsheet
from bayes_bias.table.labels import LABELS
from bayes_bias.table.metric import DIRECTIONS
from bayes_bias.table.scopes import SHOWN, ScopeName, possible_scopes
from bayes_bias.words.defining_sets import DebiasSets, read_debias_sets
from bayes_bias.words.list_names import holds_names

if TYPE_CHECKING:
    import pandas as pd

    from bayes_bias.embeddings.embedding import Embedding


COSINE = "cosine"
_EXAMPLE = "flowers=pleasant"
heading_option = partial(typer.Option, rich_help_panel=HEADINGS, metavar="HEADING")
numbers_option = partial(typer.Option, rich_help_panel=NUMBERS)


@dataclass(frozen=True, kw_only=True)
class AnySource(TableSource):
    """The source of a table, which may also be a spreadsheet from another program with any columns and numbers."""

    target: Annotated[str | None, heading_option(help="Column of the target words.")] = None
    group: Annotated[str | None, heading_option(help="Column of each target's group.")] = None
    attribute: Annotated[str | None, heading_option(help="Column of the attribute words.")] = None
    attribute_class: Annotated[str | None, heading_option("--class", help="Column of each attribute's class.")] = None
    value: Annotated[str | None, heading_option(help="Column of the numbers, with decimal points or commas.")] = None
    labels: Annotated[
        list[str] | None,
        heading_option(
            "--label",
            metavar="NAME=HEADING",
            help=f"Column with related words, where NAME is one of {', '.join(LABELS)}. Can be repeated.",
        ),
    ] = None
    replicates: Annotated[
        str | None,
        input_option(
            metavar="KIND",
            help="The embeddings are replicates: the same training with several seeds (seed) or corpora"
            " (corpus). In FILE: the heading of the column with the replicate of each value.",
        ),
    ] = None
    stereotypes: Annotated[
        list[str] | None,
        numbers_option(
            "--stereotype",
            metavar="GROUP=CLASS",
            help="The class that the stereotype assigns to a group, once for each group. GROUP=none omits"
            " the group. Also for spreadsheets of words.",
        ),
    ] = None
    opposites: Annotated[
        list[str] | None,
        numbers_option(
            metavar="CLASS", help="If all groups have the same class: a class to compare it with. Can be repeated."
        ),
    ] = None
    metric: Annotated[
        str,
        numbers_option(
            help="Kind of the numbers: cosine, dot, log-probability, log-probability-ratio, or any other"
            " name. For a word list: the measure of similarity, cosine or dot."
        ),
    ] = COSINE
    unit: Annotated[str | None, numbers_option(help="Unit of a --metric with any other name. By default its name.")] = (
        None
    )
    larger: Annotated[
        str | None,
        numbers_option(
            metavar="MEANING",
            help="Meaning of larger numbers: closer, or farther (distances, surprisals, losses, and reaction times,"
            " which are multiplied by -1).",
        ),
    ] = None
    matrix: Annotated[
        Path | None,
        numbers_option(
            metavar="MATRIX", help="A spreadsheet with targets in its first column, attributes in its first row."
        ),
    ] = None
    pooling: Annotated[
        str | None,
        input_option(
            help="For --encoder: the vector of a sentence: cls, mean, mean-content, word, or last. By"
            " default the model's own, or mean."
        ),
    ] = None
    layer: Annotated[
        str | None, input_option(help="For --encoder: the layer from which vectors are taken. By default the last.")
    ] = None
    predict: Annotated[
        str | None,
        input_option(
            help="For --masked (default: targets) and --causal (default: attributes): predict targets or attributes."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise an error if an option requires a model that is not named, or if --metric is combined with one.

        `reject` raises an error for the first option that was used.
        """
        super().__post_init__()
        if self.encoder is None:
            reject("needs an encoder of sentences. Add --encoder.", pooling=self.pooling, layer=self.layer)
        if not self.predicts_words:
            reject("needs a language model. Add --masked or --causal.", predict=self.predict)
        elif self.metric != COSINE:
            kind = "masked" if self.causal is None else "causal"
            reject(f"applies to other numbers, because --{kind} has its own. Omit one of them.", metric=self.metric)

    @property
    def instead(self) -> dict[str, Any]:
        """Values of the options that replace an embedding, including --matrix."""
        return {"--matrix": self.matrix, **super().instead}

    @property
    def headings(self) -> dict[str, str]:
        """The headings of the columns that the user named, by the part of a table that each contains.

        `COLUMNS` are the parts with an option of their own, such as "target" and "value". Columns with labels of words,
        such as "target_topic", are named by --label.
        """
        from bayes_bias.table.files import COLUMNS

        labels = pairs_of("--label", self.labels, "target_topic=subject")
        if unknown := [name for name in labels if name not in LABELS]:
            raise TableError(f"--label '{unknown[0]}' is not a label.", unknown[0], LABELS)
        headings = {name: getattr(self, name) for name in COLUMNS}
        return {name: heading for name, heading in headings.items() if heading is not None} | labels

    @property
    def numbers(self) -> "bb.Metric | None":
        """The metric of the numbers in a file, or None if the heading of their column determines it.

        A metric has a name, a unit, and a direction (`larger`: whether larger numbers mean closer or farther words).
        Three kinds of names are possible. (1) --metric is "cosine" by default. Larger cosines never mean farther words,
        so with --larger farther, the numbers are distances instead. (2) Known metrics, of tables or of similarities of
        vectors, have a unit, so --unit is rejected. (3) Any other metric has the unit of --unit, or else its own name.
        """
        from bayes_bias.associations.similarity import SIMILARITIES, similarity_names
        from bayes_bias.table.files import METRICS

        if self.larger not in (None, *DIRECTIONS):
            raise TableError(f"--larger cannot be '{self.larger}'.", self.larger, DIRECTIONS)
        larger = self.larger
        if self.metric == COSINE and larger == "farther":
            name = self.value or "distance"
            return bb.Metric(name, unit=self.unit or name, larger=larger)
        if self.metric == COSINE and self.unit is None:
            return None
        known = METRICS.get(self.metric.replace("-", " "))
        if known is None and self.metric in similarity_names():
            known = SIMILARITIES[self.metric].metric
        if known is None:
            return bb.Metric(self.metric, unit=self.unit or self.metric, larger=larger)
        reason = f"applies to metrics without a unit, but --metric '{self.metric}' has one. Omit it."
        reject(reason, unit=self.unit)
        return known if larger is None else replace(known, larger=larger)

    def holds_numbers(self, source: str) -> bool:
        """Return True if LIST is a spreadsheet that contains numbers, or a table in which the user named columns."""
        is_table = is_spreadsheet(source) or source.lower().endswith(".parquet")
        return (is_table and bool(self.headings)) or super().holds_numbers(source)

    def table(self, source: str, *arguments: Any, **options: Any) -> "bb.AssociationTable":
        """Return the table in FILE, or the table of LIST in a matrix, an embedding, or a language model.

        Options that name columns of FILE are rejected for a word list. `arguments` and `options` are the other
        arguments of `TableSource.table`.
        """
        from bayes_bias.associations.cosines import cosines_from_matrix
        from bayes_bias.table.files import COLUMNS, read_matrix

        if self.matrix is not None:
            remedy = "Pass a spreadsheet with targets in its first column and attributes in its first row."
            values = read_matrix(given_table(self.matrix, "--matrix", TableError, remedy))
            metric = {} if self.numbers is None else {"metric": self.numbers}  # otherwise, the default of the function
            return cosines_from_matrix(
                values,
                self.words(source),
                self.control_classes,
                **metric,
                name=self.matrix.name,
                allow_loss=self.allow_loss,
            )
        if not self.holds_numbers(source):
            # The options of headings with their values. The column "attribute_class" has the option --class.
            headings = {name.removeprefix("attribute_"): getattr(self, name) for name in COLUMNS}
            reason = f"applies to files of numbers, but '{source}' is a word list. Omit it."
            reject(reason, **headings, label=self.labels, unit=self.unit, larger=self.larger)
        return super().table(source, *arguments, **options)

    def read(self, source: str) -> "bb.AssociationTable":
        """Read the table in a file from another program, with the columns and the design that options describe.

        The design consists of the stereotypes (the class of each group) and the opposite classes. In such a file,
        --replicates is the heading of a column.
        """
        from bayes_bias.table.files import read_table

        reject("applies to word lists. Use --label to name columns of FILE.", sub_topics=self.sub_topics)
        if self.named_embeddings:
            raise BayesBiasError(
                f"{self.named_embeddings[0]} cannot be used with '{source}', which already"
                " contains numbers. Omit one of them."
            )
        return read_table(
            Path(source),
            pairs_of("--stereotype", self.stereotypes, _EXAMPLE),
            columns=self.headings,
            opposites=self.opposites,
            metric=self.numbers,
            replicate=self.replicates,
        )

    def measured(self, embedding: "Embedding", source: str, **options: Any) -> "bb.AssociationTable":
        """Return the table of a word list in an opened embedding, with the similarity named by --metric."""
        from bayes_bias.associations.similarity import similarity_names

        if self.metric not in similarity_names():
            message = f"--metric '{self.metric}' is not a similarity of two vectors."
            raise BayesBiasError(message, self.metric, similarity_names())
        return bb.similarities(self.words(source), embedding, similarity=self.metric, **self.settings, **options)

    def words(self, source: str) -> "str | bb.WordList":
        """Return the word list LIST, or its name if no option changes it.

        --stereotype and --opposites define the stereotypes of a list in a spreadsheet or JSON file. Other lists contain
        their own stereotypes, and are rejected with these options.
        """
        if not self.stereotypes and not self.opposites:
            return super().words(source)
        if not (is_spreadsheet(source) or holds_names(source)):
            option = "--stereotype" if self.stereotypes else "--opposites"
            raise BayesBiasError(
                f"{option} applies to spreadsheets and JSON. Other lists contain their own stereotypes."
            )
        stereotypes = pairs_of("--stereotype", self.stereotypes, _EXAMPLE) or None
        words = self.loaded(source, stereotypes=stereotypes, opposites=self.opposites or None, language=self.language)
        return words.with_sub_topics(self.related)


@app.command()
@with_options
def table(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|LIST",
            help="A spreadsheet with a row for each pair of words, or a word list, which is measured.",
        ),
    ],
    out_file: Annotated[Path, typer.Option("--out", "-o", help="CSV file for the table.")],
    inputs: AnySource,
    overwrite: OverwriteOption = False,
) -> None:
    """Write a file that other commands accept instead of a list: own or measured numbers.

    The written file contains numbers, words, and the design, but no vectors. FILE may have columns that are separated
    by semicolons or tabs, and numbers with decimal commas.

    Example: bayes-bias table mine.csv --target name --value score --metric log-probability --stereotype he=career
    --stereotype she=family --out table.csv; then bayes-bias report table.csv
    """
    from bayes_bias.table.files import table_rows

    check_output(out_file, overwrite, "--out")
    if out_file.suffix != ".csv":
        raise TableError(f"--out '{out_file}' does not end in .csv. Tables are written as CSV, so name such a file.")
    with progress_bar():
        result = inputs.table(source)
    write_csv(table_rows(result), out_file, overwrite)
    say(f"{result.text}\nThe table is in {out_file}")


@dataclass(frozen=True, kw_only=True)
class WithoutControls(TableSource):
    """The source of a table without control classes, which WEAT does not use."""

    controls: str = field(default="none", init=False)


@app.command()
@with_options
def weat(
    source: ListArgument,
    inputs: WithoutControls,
    alternative: Annotated[str, typer.Option(help="greater, less or two-sided.")] = "greater",
    ddof: Annotated[int, typer.Option(min=0, max=1, help="1 as published, 0 for the population formula.")] = 1,
    permutations: Annotated[
        int | None, typer.Option(min=1, help="Number of random partitions. By default all, unless there are too many.")
    ] = None,
    seed: SeedOption = 1,
) -> None:
    """Compute WEAT's effect size, statistic, and permutation p-value.

    The posterior of the bias, with both lists as samples of words, is printed below.

    Example: bayes-bias weat weat7 --alternative two-sided
    """
    import pandas as pd

    table = inputs.table(source)
    options: dict[str, Any] = {"alternative": alternative, "ddof": ddof, "permutations": permutations}
    result = bb.measures.weat(table, **options, seed=seed)
    partitions = f"{'all' if result.exact else 'random'} {result.partitions:,}"
    p = "p, two-sided" if alternative == "two-sided" else "p, one-sided"
    row = {
        "effect size d": plain(result.effect_size, 2),
        "statistic": plain(result.statistic),
        p: probability(result.p_value),
    }
    print_frame(pd.DataFrame([{"list": table.name, **row, "partitions": partitions}]))
    deliver(weat=result)
    try:
        verdict = bb.verdict(table)
        deliver(verdict=verdict)
        say(verdict.text)
    except (ScopeError, TableError) as error:  # for some tables, WEAT is defined although there is no posterior
        say(f"No posterior: {error}")


@app.command()
def published(
    d: Annotated[float, typer.Option(help="WEAT's effect size, as published.")],
    targets: Annotated[tuple[int, int], typer.Option(metavar="N N", help="Words in each of the two groups.")],
    attributes: Annotated[tuple[int, int], typer.Option(metavar="N N", help="Words in each of the two classes.")],
    ddof: Annotated[int, typer.Option(help="1 as in Caliskan et al., or 0 for the population formula.")] = 1,
    seed: SeedOption = 1,
) -> None:
    """Estimate whether a published d would be distinguishable if attributes were a sample as well.

    Example: bayes-bias published --d 0.97 --targets 8 8 --attributes 8 8
    """
    import pandas as pd

    result = bb.published(d, targets, attributes, ddof=ddof, seed=seed)
    row = {
        "d": plain(result.d, 2),
        "t": plain(result.t, 2),
        "p": probability(result.p_value),
        "probability": DASH if result.probability is None else percent(result.probability),
        "in 90% of studies": share_bounds(*result.studies),
        "bias, in units of d": value_and_interval(result.d, result.lower, result.upper, 2),
    }
    deliver(published=result)
    print_frame(pd.DataFrame([row]))
    say(result.text)


@app.command()
@with_options
def measures(
    source: ListArgument,
    inputs: TableSource,
    sets: SetsOption = None,
    posterior: Annotated[
        bool, typer.Option(help="Sample the posterior for the last rows, which takes longest.")
    ] = True,
    model: ModelOption = "crossed",
    ci_prob: CiOption = 0.95,
    seed: SeedOption = 1,
    word_draws: Annotated[
        int, typer.Option(min=0, help="Number of lists of random words, and of redrawn words, for each measure.")
    ] = 100,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, in full precision.")] = False,
    *,
    sampler: Sampler,
) -> None:
    """Compute every published measure that applies to a list, with the posterior in the last rows.

    Example: bayes-bias measures weat7 --sets she:he,woman:man
    """
    from bayes_bias.fitting.fitted import Fitted
    from bayes_bias.posterior.summary import with_posterior

    if posterior:
        with optional(" for the posterior", ", or use --no-posterior"):
            from bayes_bias.fitting.fit import fit
    defining = None if sets is None else read_debias_sets(sets)  # pairs of words that define a direction
    summaries: dict[ScopeName, pd.DataFrame] = {}
    with progress_bar():
        step(f"{source}: measuring")
        table = inputs.table(source, also=defining.words if defining else ())
        measured = bb.measures.measure_all(
            table, defining_sets=defining or (), seed=seed, ci_prob=ci_prob, chance_draws=word_draws, redraws=word_draws
        )
        if posterior:
            # The posterior is summarised for each scope that the table has enough groups and words for.
            fitted = Fitted.of(fit(table, model, seed=seed, sampling=sampler.sampling))
            scopes = [scope for scope in SHOWN if scope in possible_scopes(fitted.data)]
            summaries = {scope: bb.summarize(fitted, scope, ci_prob=ci_prob) for scope in scopes}
    rows = with_posterior(measured.table, summaries, table.metric)
    deliver(measures=measured, table=rows)
    if csv:
        typer.echo(csv_text(rows), nl=False)
        return
    print_layout(measured.laid_out(rows))
    say("p is one-sided for WEAT and its family (SEAT, ML-EAT, WEFAT, gWEAT, SD-WEAT), two-sided for the others.")
    if defining is not None:
        _say_pair_dir(table, defining, seed)
    for remark in measured.remarks:
        say(remark)


def _say_pair_dir(table: "bb.AssociationTable", sets: DebiasSets, seed: int) -> None:
    """Print PairDir, the agreement of the directions of several pairs of words, compared with random words.

    A direction is the difference of the vectors of a pair, such as "she" and "he", in the defining `sets`.
    Nothing is printed unless there are two pairs, all of whose words have vectors, and an embedding (`table.origin`)
    from which random words can be drawn.
    """
    from bayes_bias.measures.other_words import random_pool

    words_of_pairs = list(chain(*sets.defining_sets))
    vectors = table.vectors or {}
    if len(sets.defining_sets) > 1 and table.origin and all(word in vectors for word in words_of_pairs):
        random_words = random_pool(table.origin)
        all_vectors = random_words | {word: vectors[word] for word in words_of_pairs}
        say(bb.measures.pair_dir(all_vectors, sets, random=list(random_words), seed=seed).text)
