"""Where a table comes from: the options of every command that measures a word list or reads a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import pandas as pd
import typer

import bayes_bias as bb
from bayes_bias.associations.cosines import cosines_from_matrix
from bayes_bias.associations.frequency import RANK, CovariatesFrom, with_covariates_from
from bayes_bias.associations.log_probability import Predicted
from bayes_bias.associations.similarity import similarity_names
from bayes_bias.cli.options import ControlsOption, input_option, listed
from bayes_bias.embeddings.embedding import Embedding
from bayes_bias.errors import BayesBiasError
from bayes_bias.language_models.encoders import LAYER, POOLING
from bayes_bias.progress import Progress
from bayes_bias.spreadsheets import is_spreadsheet
from bayes_bias.table.files import COLUMNS, read_matrix, read_table
from bayes_bias.words.list_spreadsheets import holds_words
from bayes_bias.words.topics_and_pairs import WITH_VECTORS, SubTopicsFrom, check_sub_topics

# What `--embedding` and `--similarity` mean where they are not given.
DEMO = ("googlenews-demo",)
COSINE = "cosine"

ListArgument = Annotated[
    str,
    typer.Argument(
        metavar="LIST",
        help="Name of a shipped word list, a TOML file or spreadsheet of one, or a spreadsheet of cosines with a row"
        " for each pair of words (with --stereotype).",
    ),
]
WordListArgument = Annotated[
    str, typer.Argument(metavar="LIST", help="Name of a shipped word list, a TOML file or a spreadsheet.")
]

ReplicatesOption = Annotated[
    str | None,
    input_option(
        "--replicates",
        metavar="KIND",
        help="The embeddings are replicates of one: the same training with several seeds (seed), corpora (corpus)."
        " In a spreadsheet of cosines: the column that says which replicate a value is of.",
    ),
]
StereotypesOption = Annotated[
    list[str] | None, input_option("--stereotype", help="For spreadsheets: GROUP=CLASS, once for each group.")
]
OppositesOption = Annotated[
    list[str] | None,
    input_option(
        "--opposites", help="For spreadsheets whose groups have one class: CLASS that it is compared with, repeatable."
    ),
]
cosines_option = partial(typer.Option, rich_help_panel="Columns of a table of cosines", metavar="HEADING")
TargetColumn = Annotated[str, cosines_option(help="Target words.")]
GroupColumn = Annotated[str, cosines_option(help="The group of each target.")]
AttributeColumn = Annotated[str, cosines_option(help="Attribute words.")]
ClassColumn = Annotated[str, cosines_option(help="The class of each attribute.")]
ValueColumn = Annotated[str, cosines_option(help="Cosines; decimal points or commas.")]
AllowLossOption = Annotated[
    bool, input_option("--allow-loss", help="Go on when half of a group's or class's words are missing.")
]
TrustOption = Annotated[
    bool, input_option("--trust", help="Open files that can run code (gensim's native files, pickles).")
]
SimilarityOption = Annotated[
    str, input_option(help=f"How the closeness of two vectors is measured: {', '.join(similarity_names())}.")
]
SubTopicsOption = Annotated[
    str | None,
    input_option(
        help="Words that belong together count as fewer: those that the list names (named), or that the vectors show"
        " (from-vectors), or that the list names, by as much as the vectors show (named-with-vectors); exhaustive where"
        " sub-topics are all there are, none to ignore them. By default what the list says."
    ),
]
CovariatesOption = Annotated[
    list[str] | None,
    input_option(
        "--covariates",
        metavar="FILE",
        help="Estimate the bias at equal values of these numbers: a spreadsheet of words and numbers, or 'rank' for the"
        " targets' frequency rank in the embedding; may be repeated.",
    ),
]
TemplatesOption = Annotated[
    str | None,
    input_option(
        help="For --encoder: the sentences that words stand in, a shipped set (plain-10, noun-10, name-10)"
        " or a TOML file. For --masked: those that two words stand in; association-10 by default."
    ),
]
PoolingOption = Annotated[
    str | None,
    input_option(
        help=f"For --encoder: which vector is a sentence's: cls, mean, mean-content, word, last; {POOLING} by default."
    ),
]
LayerOption = Annotated[
    str | None, input_option(help=f"For --encoder: the layer that vectors are taken from; {LAYER} by default.")
]
PredictOption = Annotated[
    str | None, input_option(help="For --masked: whose probability it is, that of targets (default) or attributes.")
]


@dataclass(frozen=True)
class Covariates:
    """Numbers in which words differ; the bias is estimated at equal values of them."""

    covariates: CovariatesOption = None

    @property
    def sources(self) -> CovariatesFrom:
        """As functions take them."""
        return [source if source == RANK else _covariates_in(Path(source)) for source in self.covariates or []]


@dataclass(frozen=True, kw_only=True)
class CosinesSource:
    """What the columns of a table of cosines are called, and which class is stereotypical for each group in it."""

    target: TargetColumn = COLUMNS["target"]
    group: GroupColumn = COLUMNS["group"]
    attribute: AttributeColumn = COLUMNS["attribute"]
    attribute_class: ClassColumn = COLUMNS["attribute_class"]
    value: ValueColumn = COLUMNS["value"]
    replicates: ReplicatesOption = None
    stereotypes: StereotypesOption = None
    opposites: OppositesOption = None

    def holds_cosines(self, source: str) -> bool:
        """Whether LIST is a table of cosines already."""
        named = self._columns != COLUMNS
        return is_spreadsheet(source) and (named or not holds_words(Path(source)))

    def cosines_in(self, source: str) -> bb.AssociationTable:
        """The table of cosines in a spreadsheet."""
        if self.opposites:
            raise BayesBiasError(f"--opposites: '{source}' holds cosines, and is not a word list; leave it out")
        classes = _classes_of(self.stereotypes or [])
        return read_table(Path(source), classes, columns=self._columns, replicate=self.replicates)

    @property
    def _columns(self) -> dict[str, str]:
        return {column: getattr(self, column) for column in COLUMNS}


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(CosinesSource):
    """How words are measured, wherever vectors or probabilities come from."""

    controls: ControlsOption = "neutral,human"
    similarity: SimilarityOption = COSINE
    sub_topics: SubTopicsOption = None
    allow_loss: AllowLossOption = False
    trust: TrustOption = False
    templates: TemplatesOption = None
    pooling: PoolingOption = None
    layer: LayerOption = None
    predict: PredictOption = None


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The embedding, model or file that numbers come from."""

    embedding: Annotated[
        list[str],
        input_option(
            "--embedding",
            "-e",
            help="Shipped name, file, or gensim-downloader name; several that are --replicates of one each with its own"
            " --embedding.",
        ),
    ] = field(default_factory=lambda: list(DEMO))
    matrix: Annotated[
        Path | None,
        input_option(
            metavar="FILE",
            help="Instead of --embedding a spreadsheet of cosines: targets in its first column, attributes in its first"
            " row.",
        ),
    ] = None
    encoder: Annotated[
        str | None,
        input_option(
            metavar="FOLDER",
            help="Instead of --embedding a model that encodes sentences: its folder, or its name on this machine (needs"
            " the extra 'transformers').",
        ),
    ] = None
    masked: Annotated[
        str | None,
        input_option(
            metavar="FOLDER",
            help="Instead of --embedding a masked language model: how much more probable is a word beside another?"
            " Its folder, or its name on this machine (needs the extra 'transformers').",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TableSource(MeasuringOptions, Origin):
    """Where the numbers of a word list come from: an embedding, a language model or a spreadsheet.

    Each field is an option of the command line. `table` makes the table of a list; `opened` opens the embedding alone.
    """

    def __post_init__(self) -> None:
        """Refuse options of a model that is not given, and two sources of numbers."""
        if self.templates is not None and not self.reads_sentences:
            raise BayesBiasError(
                f"--templates: '{self.templates}' needs a model of sentences; add --encoder or --masked"
            )
        for option, value in {"--pooling": self.pooling, "--layer": self.layer}.items():
            if value is not None and self.encoder is None:
                raise BayesBiasError(f"{option}: '{value}' needs an encoder of sentences; add --encoder")
        if self.predict is not None and self.masked is None:
            raise BayesBiasError(f"--predict: '{self.predict}' needs a masked language model; add --masked")
        if self.similarity != COSINE and (self.masked is not None or self.matrix is not None):
            numbers = "--masked gives probabilities" if self.matrix is None else "--matrix holds cosines"
            raise BayesBiasError(f"--similarity: '{self.similarity}' compares vectors, and {numbers}; leave one out")
        others = {"--encoder": self.encoder, "--masked": self.masked, "--matrix": self.matrix}
        sources = [f"{option} {source}" for option, source in others.items() if source is not None]
        if sources and tuple(self.embedding) != DEMO:
            sources += [f"--embedding {name}" for name in self.embedding]
        if len(sources) > 1:
            raise BayesBiasError(f"{sources[0].split()[0]}: {', '.join(sources)} exclude each other; give one")

    @property
    def reads_sentences(self) -> bool:
        """Whether the numbers come from a model that reads sentences."""
        return self.encoder is not None or self.masked is not None

    @property
    def related(self) -> SubTopicsFrom | None:
        """Which words belong together, as functions take it; None leaves it to the list."""
        return None if self.sub_topics is None else check_sub_topics(self.sub_topics.replace("-", " "), "--sub-topics")

    @property
    def control_classes(self) -> tuple[str, ...]:
        """The control classes, as functions take them."""
        return listed(self.controls)

    @property
    def settings(self) -> dict[str, Any]:
        """What every function that measures lists takes."""
        return {
            "controls": self.control_classes,
            "similarity": self.similarity,
            "allow_loss": self.allow_loss,
            "trust": self.trust,
        }

    def has_table(self, source: str) -> bool:
        """Whether the table of LIST is made one by one."""
        return self.tabulated or self.holds_cosines(source)

    @property
    def tabulated(self) -> bool:
        """Whether the numbers of word lists come from a masked language model or a matrix, and not from vectors."""
        return self.masked is not None or self.matrix is not None

    def table(
        self,
        source: str,
        progress: Progress | None = None,
        *,
        also: Iterable[str] = (),
        covariates: CovariatesFrom = None,
    ) -> bb.AssociationTable:
        """The table of LIST: a word list measured in an embedding or a language model, or a CSV file of cosines.

        The table also carries the vectors of the words in `also`, and the covariates of its words.
        """
        if self.tabulated or (self.encoder is None and self.holds_cosines(source)):
            return with_covariates_from(self._read(source, progress), None, covariates)
        return self.measured(self.opened([source], progress), source, also=also, covariates=covariates)

    def _read(self, source: str, progress: Progress | None) -> bb.AssociationTable:
        """The table of LIST where its numbers do not come from vectors."""
        if self.matrix is not None:
            read = read_matrix(self.matrix)
            return cosines_from_matrix(
                read, self.words(source), self.control_classes, name=self.matrix.name, allow_loss=self.allow_loss
            )
        if self.masked is None:
            if self.similarity != COSINE:
                raise BayesBiasError(
                    f"--similarity: '{self.similarity}' needs vectors, and '{source}' holds cosines; leave it out"
                )
            if self.related in WITH_VECTORS:
                raise BayesBiasError(
                    f"--sub-topics: '{self.sub_topics}' needs vectors, and '{source}' holds cosines; leave it out"
                )
            return self.cosines_in(source)
        self._check_lists([source])
        return bb.log_probabilities(
            bb.language_models.load_masked(self.masked, trust=self.trust),
            self.words(source),
            self.control_classes,
            templates=self.templates or "association-10",
            predict=cast(Predicted, self.predict or "targets"),
        )

    def measured(
        self, embedding: Embedding, source: str, *, also: Iterable[str] = (), covariates: CovariatesFrom = None
    ) -> bb.AssociationTable:
        """The table of a word list in an embedding that is open."""
        return bb.similarities(embedding, self.words(source), also=also, covariates=covariates, **self.settings)

    def words(self, source: str) -> str | bb.WordList:
        """A word list as LIST names it; one in a spreadsheet with the stereotypes of --stereotype."""
        if self.stereotypes and not is_spreadsheet(source):
            raise BayesBiasError("--stereotype: is for spreadsheets; other word lists state their own stereotypes")
        if not self.stereotypes and not self.opposites and self.sub_topics is None:
            return source
        stereotypes = _classes_of(self.stereotypes) if self.stereotypes else None
        listed = bb.load_wordlist(source, stereotypes=stereotypes, opposites=self.opposites or None)
        return listed.with_sub_topics(self.related)

    def opened(self, lists: Sequence[str], progress: Progress | None = None, *, also: Iterable[str] = ()) -> Embedding:
        """A single embedding, several as replicates, or an encoder's vectors of the lists and of words in `also`."""
        if self.matrix is not None:
            raise BayesBiasError(
                f"--matrix: '{self.matrix}' has cosines, and vectors are needed here; give --embedding"
            )
        if self.masked is not None:
            raise BayesBiasError(
                f"--masked: '{self.masked}' has probabilities of words, and vectors are needed here; give --encoder"
                " FOLDER"
            )
        if self.encoder is not None:
            self._check_lists(lists)
            return bb.language_models.encode(
                self.encoder,
                lists,
                self.templates,
                self.control_classes,
                also=also,
                pooling=self.pooling or POOLING,
                layer=self.layer or LAYER,
                trust=self.trust,
            )
        several = len(self.embedding) > 1
        if several and self.replicates is None:
            raise BayesBiasError(
                f"--embedding: {len(self.embedding)} are given and one is needed; if they are replicates, say of what"
                " kind, such as --replicates seed"
            )
        given = self.embedding if several else self.embedding[0]
        embedding = bb.open_embedding(given, trust=self.trust, kind=self.replicates)
        if self.replicates is not None and not embedding.replicates:
            raise BayesBiasError(
                f"--replicates: '{embedding.name}' is one {self.replicates} alone; give two or more, each with its"
                " --embedding, or leave --replicates out"
            )
        return embedding

    def _check_lists(self, lists: Sequence[str]) -> None:
        """A model of sentences measures word lists; its replicates are its templates."""
        if self.replicates is not None:
            raise BayesBiasError(
                f"--replicates: '{self.replicates}' is for several embeddings; the replicates of a model of sentences"
                " are its --templates"
            )
        for source in filter(self.holds_cosines, lists):
            option = "--encoder" if self.masked is None else "--masked"
            raise BayesBiasError(f"{option}: '{source}' holds cosines already; name word lists, or leave it out")


@dataclass(frozen=True, kw_only=True)
class WordListSource(TableSource):
    """The same for word lists that have their stereotypes with them."""

    stereotypes: StereotypesOption = field(default=None, init=False)
    opposites: OppositesOption = field(default=None, init=False)
    matrix: Path | None = field(default=None, init=False)
    target: str = field(default=COLUMNS["target"], init=False)
    group: str = field(default=COLUMNS["group"], init=False)
    attribute: str = field(default=COLUMNS["attribute"], init=False)
    attribute_class: str = field(default=COLUMNS["attribute_class"], init=False)
    value: str = field(default=COLUMNS["value"], init=False)


@dataclass(frozen=True, kw_only=True)
class SeveralEmbeddings(TableSource):
    """The same where several embeddings stand side by side."""

    embedding: Annotated[
        list[str],
        input_option(
            "--embedding",
            "-e",
            help="As for `fit`; several, each with its own --embedding, are put side by side, unless they are"
            " --replicates of one.",
        ),
    ] = field(default_factory=lambda: list(DEMO))


@dataclass(frozen=True, kw_only=True)
class BeforeAndAfter(MeasuringOptions):
    """Two sources that are compared, and the options of both."""

    before: Annotated[
        list[str],
        typer.Option(
            help="Embedding before, or a spreadsheet of cosines (then without LIST, with --stereotype); with"
            " --replicates several, each with its own --before."
        ),
    ]
    after: Annotated[
        list[str],
        typer.Option(
            help="Embedding after, or a spreadsheet of cosines; or a debiasing method such as hard, with --sets, which"
            " is applied to the embedding before. Several, each with its own --after, are compared and ranked."
        ),
    ]
    encoder: Annotated[
        bool,
        input_option(
            "--encoder",
            help="--before and --after are models that encode sentences: their folders (needs the extra"
            " 'transformers').",
        ),
    ] = False
    masked: Annotated[
        bool,
        input_option(
            "--masked",
            help="--before and --after are masked language models: their folders (needs the extra 'transformers').",
        ),
    ] = False

    @property
    def versions(self) -> list[list[str]]:
        """The embeddings or the model of each version after: replicates are one version together."""
        return [self.after] if self.replicates is not None else [[name] for name in self.after]

    def source(self, names: list[str]) -> TableSource:
        """The source of one side, which `names` are the embeddings or the model of."""
        shared: dict[str, Any] = {option.name: getattr(self, option.name) for option in fields(MeasuringOptions)}
        if not (self.encoder or self.masked):
            return TableSource(**shared, embedding=names)
        folder, *more = names
        if more:
            raise BayesBiasError(
                f"{'--encoder' if self.encoder else '--masked'}: {', '.join(names)} are given where one model is"
                " meant; name one folder before and one after"
            )
        return TableSource(**shared, encoder=folder if self.encoder else None, masked=folder if self.masked else None)


def _covariates_in(path: Path) -> pd.DataFrame:
    """Words in the first column of a spreadsheet, numbers in the others."""
    if not path.is_file():
        raise BayesBiasError(f"--covariates: no file '{path}'; give a spreadsheet of words and numbers, or '{RANK}'")
    return read_matrix(path)


def _classes_of(stereotypes: list[str]) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in stereotypes]
    for group, equals, class_name in pairs:
        if not (group and equals and class_name):
            raise BayesBiasError(
                f"--stereotype: '{group}{equals}{class_name}' must be GROUP=CLASS, such as 'flowers=pleasant'"
            )
    return {group: class_name for group, _, class_name in pairs}
