"""Arguments that several commands share, and what they mean."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import bayes_bias as bb
from bayes_bias.associations.labels import LABELS
from bayes_bias.associations.log_probability import Predicted
from bayes_bias.embeddings import Embedding
from bayes_bias.errors import BayesBiasError
from bayes_bias.estimands.facets import SCOPES
from bayes_bias.files import FORMATS, WRITTEN, check_formats
from bayes_bias.language_models.encoders import LAYER, POOLING
from bayes_bias.progress import Progress
from bayes_bias.results.spreadsheets import read_csv
from bayes_bias.words.columns import holds_words

INPUT = "Input"
SAMPLING = "Sampling"
MODEL = "Model"
FIGURES = ",".join(WRITTEN)
# What `--embedding` means where it is not given.
DEMO = ["googlenews-demo"]

ListArgument = Annotated[
    str,
    typer.Argument(
        metavar="LIST",
        help="Name of a shipped word list, a TOML or CSV file of one, or a CSV file of cosines with the columns target,"
        " group, attribute, attribute_class, cosine (with --stereotype).",
    ),
]
ListsArgument = Annotated[list[str], typer.Argument(metavar="LIST...", help="Word lists, as for `fit`.")]
EmbeddingOption = Annotated[
    list[str],
    typer.Option(
        "--embedding",
        "-e",
        help="Shipped name, file, or gensim-downloader name; several that are --replicates of one each with its own"
        " --embedding.",
        rich_help_panel=INPUT,
    ),
]
SideBySideOption = Annotated[
    list[str],
    typer.Option(
        "--embedding",
        "-e",
        help="As for `fit`; several, each with its own --embedding, are put side by side, unless they are --replicates"
        " of one.",
        rich_help_panel=INPUT,
    ),
]
ReplicatesOption = Annotated[
    str | None,
    typer.Option(
        "--replicates",
        metavar="KIND",
        help="The embeddings are replicates of one: the same training with several seeds (seed), corpora (corpus)."
        " Of a CSV file: the column that says which replicate a value is of.",
        rich_help_panel=INPUT,
    ),
]
ControlsOption = Annotated[
    str,
    typer.Option(
        help="Control classes, comma-separated names or TOML files, or 'none'.", rich_help_panel=INPUT
    ),
]
StereotypesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stereotype",
        help="For CSV files: GROUP=CLASS, once for each group.",
        rich_help_panel=INPUT,
    ),
]
AllowLossOption = Annotated[
    bool,
    typer.Option(
        "--allow-loss",
        help="Go on when half of a group's or class's words are missing.",
        rich_help_panel=INPUT,
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Open files that can run code (gensim's native files, pickles).",
        rich_help_panel=INPUT,
    ),
]
ModelOption = Annotated[str, typer.Option(help="Shipped model or TOML file.", rich_help_panel=MODEL)]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same numbers.", rich_help_panel=MODEL)]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Of a Dask scheduler whose workers do the work (extra cluster); they see the folder of known truths.",
    ),
]
ScopeOption = Annotated[
    str,
    typer.Option(help=f"Words a reader may generalise to: {', '.join(SCOPES)}.", rich_help_panel=MODEL),
]
SetsOption = Annotated[
    str | None,
    typer.Option(
        help="Words that differ in the protected attribute alone, for measures along a direction:"
        " she:he,woman:man, or a TOML file with defining_sets.",
        rich_help_panel=INPUT,
    ),
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace what --out holds already.")]
FiguresOption = Annotated[
    str, typer.Option(help=f"Formats of figure files, comma-separated ({', '.join(FORMATS)}), or 'none'.")
]
CiOption = Annotated[
    float,
    typer.Option("--ci", min=0.01, max=0.999, help="Probability of the intervals.", rich_help_panel=MODEL),
]

RopeOption = Annotated[
    float | None,
    typer.Option(
        "--rope",
        metavar="SIZE",
        help="Up to which size a bias is negligible, in the units of the numbers: how probable is that it is?",
        rich_help_panel=MODEL,
    ),
]


TemplatesOption = Annotated[
    str | None,
    typer.Option(
        help="For --encoder: the sentences that words stand in, a shipped set (plain-10, noun-10, name-10)"
        " or a TOML file. For --masked: those that two words stand in; association-10 by default.",
        rich_help_panel=INPUT,
    ),
]
PoolingOption = Annotated[
    str | None,
    typer.Option(
        help=f"For --encoder: which vector is a sentence's: cls, mean, mean-content, word, last; {POOLING} by"
        " default.",
        rich_help_panel=INPUT,
    ),
]
LayerOption = Annotated[
    str | None,
    typer.Option(
        help=f"For --encoder: the layer that vectors are taken from; {LAYER} by default.",
        rich_help_panel=INPUT,
    ),
]
PredictOption = Annotated[
    str | None,
    typer.Option(
        help="For --masked: whose probability it is, that of targets (default) or attributes.",
        rich_help_panel=INPUT,
    ),
]


@dataclass(frozen=True)
class SentenceModel:
    """The model that reads sentences that is meant, if one is: an encoder, or a masked language model."""

    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Instead of --embedding a model that encodes sentences: its folder, or its name on this machine (needs"
            " the extra 'transformers').",
            rich_help_panel=INPUT,
        ),
    ] = None
    templates: TemplatesOption = None
    pooling: PoolingOption = None
    layer: LayerOption = None
    masked: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Instead of --embedding a masked language model: how much more probable is a word beside another?"
            " Its folder, or its name on this machine (needs the extra 'transformers').",
            rich_help_panel=INPUT,
        ),
    ] = None
    predict: PredictOption = None

    @property
    def is_given(self) -> bool:
        """Whether a model reads sentences."""
        return self.encoder is not None or self.masked is not None

    def check(self, embedding: list[str] = DEMO) -> None:
        """Refuse options of a model where none is named, and two sources of numbers."""
        if self.templates is not None and not self.is_given:
            raise BayesBiasError(
                f"--templates: '{self.templates}' belongs to a model of sentences, and none is named; add --encoder or"
                " --masked"
            )
        for option, value in {"--pooling": self.pooling, "--layer": self.layer}.items():
            if value is not None and self.encoder is None:
                raise BayesBiasError(
                    f"{option}: '{value}' belongs to an encoder of sentences, and none is named; add --encoder"
                )
        if self.predict is not None and self.masked is None:
            raise BayesBiasError(
                f"--predict: '{self.predict}' belongs to a masked language model, and none is named; add --masked"
            )
        named = {"--encoder": self.encoder, "--masked": self.masked}
        sources = [f"{option} {value}" for option, value in named.items() if value is not None]
        sources += [f"--embedding {each}" for each in embedding if embedding != DEMO]
        if self.is_given and len(sources) > 1:
            raise BayesBiasError(
                f"{sources[0].split()[0]}: {', '.join(sources)} are named together; give one of them"
            )

    def table(
        self, source: str, replicates: str | None, controls: str, trust: bool, progress: Progress | None
    ) -> bb.Associations:
        """What the masked model makes of a list."""
        assert self.masked is not None
        _check_lists(self, [source], replicates)
        return bb.log_probabilities(
            bb.load_masked(self.masked, trust=trust),
            source,
            controls_of(controls),
            templates=self.templates or "association-10",
            predict=cast(Predicted, self.predict or "targets"),
            progress=progress,
        )


@dataclass(frozen=True)
class SentenceModels:
    """Whether --before and --after are models that read sentences, and how they read them."""

    encoder: Annotated[
        bool,
        typer.Option(
            "--encoder",
            help="--before and --after are models that encode sentences: their folders (needs the extra"
            " 'transformers').",
            rich_help_panel=INPUT,
        ),
    ] = False
    templates: TemplatesOption = None
    pooling: PoolingOption = None
    layer: LayerOption = None
    masked: Annotated[
        bool,
        typer.Option(
            "--masked",
            help="--before and --after are masked language models: their folders (needs the extra 'transformers').",
            rich_help_panel=INPUT,
        ),
    ] = False
    predict: PredictOption = None

    def of(self, folders: list[str]) -> SentenceModel:
        """The model of one side."""
        folder, *more = folders
        if more and (self.encoder or self.masked):
            raise BayesBiasError(
                f"{'--encoder' if self.encoder else '--masked'}: {', '.join(folders)} are given where one model is"
                " meant; name one folder before and one after"
            )
        read = {
            "encoder": folder if self.encoder else None,
            "masked": folder if self.masked else None,
        }
        model = SentenceModel(
            **read, templates=self.templates, pooling=self.pooling, layer=self.layer, predict=self.predict
        )
        model.check()
        return model


DrawsOption = Annotated[
    int, typer.Option(min=100, help="Draws kept in each chain.", rich_help_panel=SAMPLING)
]
TuneOption = Annotated[
    int, typer.Option(min=100, help="Warm-up draws in each chain.", rich_help_panel=SAMPLING)
]


@dataclass(frozen=True)
class Sampler:
    """How long to sample, and how carefully; `bayes_bias.Sampling` says the same in Python."""

    draws: DrawsOption = 1500
    tune: TuneOption = 1000
    chains: Annotated[int, typer.Option(min=2, help="Number of chains.", rich_help_panel=SAMPLING)] = 4
    target_accept: Annotated[
        float,
        typer.Option(
            min=0.5,
            max=0.999,
            help="Acceptance rate to aim at: nearer to 1 where transitions diverge.",
            rich_help_panel=SAMPLING,
        ),
    ] = 0.95

    @property
    def sampling(self) -> "bb.Sampling":
        """As functions take it."""
        return bb.Sampling(**asdict(self))


@dataclass(frozen=True)
class PairsSampler(Sampler):
    """The same for pairs of sentences, whose models are quickly drawn from."""

    draws: DrawsOption = 1000
    tune: TuneOption = 700


def takes_sampling[**P](command: Callable[P, None]) -> Callable[..., None]:
    """A command with the options of a `Sampler`, which it gets as its argument `sampler`."""
    return _with_options(command, "sampler")


def takes_sentence_model[**P](command: Callable[P, None]) -> Callable[..., None]:
    """A command with the options of a `SentenceModel`, or of two, which it gets as its argument `reader`."""

    def check(reader: SentenceModel | SentenceModels, given: Mapping[str, Any]) -> None:
        if isinstance(reader, SentenceModel):
            reader.check(given["embedding"])

    return _with_options(command, "reader", check)


def _with_options[**P](
    command: Callable[P, None],
    argument: str,
    check: Callable[[Any, Mapping[str, Any]], None] = lambda *_: None,
) -> Callable[..., None]:
    """A command whose argument is made of the options that its annotation, a dataclass, has as fields."""
    signature = inspect.signature(command, eval_str=True)
    kind = signature.parameters[argument].annotation
    options = inspect.signature(kind).parameters

    @wraps(command)
    def run(**given: Any) -> None:
        made = kind(**{name: given.pop(name) for name in options})
        check(made, given)
        command(**given, **{argument: made})  # type: ignore[call-arg]

    shown = [each for each in signature.parameters.values() if each.name != argument]
    every = [*shown, *(each.replace(kind=each.KEYWORD_ONLY) for each in options.values())]
    run.__signature__ = signature.replace(parameters=every)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in every}
    return run


def read_table(
    source: str,
    embedding: list[str],
    replicates: str | None,
    controls: str,
    stereotypes: list[str] | None,
    allow_loss: bool,
    trust: bool,
    reader: SentenceModel = SentenceModel(),
    progress: Progress | None = None,
) -> bb.Associations:
    """The table that LIST means: a word list measured in an embedding or a language model, or a CSV file of cosines."""
    if holds_cosines(source) and not reader.is_given:
        return table_from_csv(Path(source), stereotypes, replicates)
    if stereotypes:
        raise BayesBiasError(
            "--stereotype: is for CSV files of cosines; a word list states its own stereotypes"
        )
    if reader.masked is not None:
        return reader.table(source, replicates, controls, trust, progress)
    opened = embedding_of(embedding, replicates, trust, reader, [source], controls, progress)
    return bb.cosines(opened, source, controls_of(controls), allow_loss=allow_loss)


def embedding_of(
    names: list[str],
    replicates: str | None,
    trust: bool,
    reader: SentenceModel = SentenceModel(),
    lists: Sequence[str] = (),
    controls: str = "none",
    progress: Progress | None = None,
) -> Embedding:
    """The embedding that is meant: the only one that is named, all of them as replicates of one, or the words of lists
    as an encoder has them."""
    if reader.masked is not None:
        raise BayesBiasError(
            f"--masked: '{reader.masked}' has probabilities of words, and vectors are needed here; give --encoder"
            " FOLDER"
        )
    if reader.encoder is not None:
        return _encoded(reader, replicates, lists, controls, trust, progress)
    if len(names) > 1 and replicates is None:
        raise BayesBiasError(
            f"--embedding: {len(names)} are given where one is meant; if they are replicates, say of what kind, such as"
            " --replicates seed"
        )
    opened = bb.open_embedding(names if len(names) > 1 else names[0], trust=trust, kind=replicates)
    if replicates is not None and not opened.replicates:
        raise BayesBiasError(
            f"--replicates: '{opened.name}' is one {replicates} alone; give two or more, each with its own option, or"
            " leave --replicates out"
        )
    return opened


def _encoded(
    reader: SentenceModel,
    replicates: str | None,
    lists: Sequence[str],
    controls: str,
    trust: bool,
    progress: Progress | None,
) -> Embedding:
    _check_lists(reader, lists, replicates)
    assert reader.encoder is not None
    return bb.encode(
        reader.encoder,
        lists,
        reader.templates,
        controls_of(controls),
        pooling=reader.pooling or POOLING,
        layer=reader.layer or LAYER,
        trust=trust,
        progress=progress,
    )


def _check_lists(reader: SentenceModel, lists: Sequence[str], replicates: str | None) -> None:
    if replicates is not None:
        raise BayesBiasError(
            f"--replicates: '{replicates}' is for several embeddings; the replicates of a model of sentences are its"
            " --templates"
        )
    for each in lists:
        if holds_cosines(each):
            option = "--encoder" if reader.masked is None else "--masked"
            raise BayesBiasError(
                f"{option}: '{each}' holds cosines already; name word lists, or leave it out"
            )


def controls_of(controls: str) -> tuple[str, ...]:
    """Control classes as the option gives them."""
    return _listed(controls)


def formats_of(figures: str) -> tuple[str, ...]:
    """Formats of figures as the option gives them, checked."""
    check_formats(_listed(figures))
    return _listed(figures)


def _listed(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(part.strip() for part in text.split(",") if part.strip())


def holds_cosines(source: str) -> bool:
    """Whether LIST is a table of cosines, and not the name or file of a word list."""
    return source.lower().endswith(".csv") and not holds_words(Path(source))


def table_from_csv(
    path: Path, stereotypes: list[str] | None, replicates: str | None = None
) -> bb.Associations:
    """A CSV file of cosines, a row for each pair (in each replicate); columns such as ``target_topic`` may be there."""
    if not path.is_file():
        raise BayesBiasError(f"LIST: no file '{path}'; a word list's name, a TOML or a CSV file is needed")
    pairs = [pair.partition("=") for pair in stereotypes or ()]
    if not pairs or not all(equals for _, equals, _ in pairs):
        raise BayesBiasError(
            "--stereotype: a CSV file of cosines needs GROUP=CLASS, once for each group; in one of words it stands"
            " above the words of each group"
        )
    try:
        frame = read_csv(path, keep_default_na=False, na_values={"cosine": [""]})
    except (ValueError, UnicodeDecodeError) as error:
        raise BayesBiasError(f"LIST: '{path}' is no CSV table: {error}") from error
    labels: dict[str, Any] = {label: label for label in LABELS if label in frame}
    return bb.Associations.from_frame(
        frame,
        target="target",
        group="group",
        attribute="attribute",
        attribute_class="attribute_class",
        value="cosine",
        stereotypes={group: attribute_class for group, _, attribute_class in pairs},
        name=path.stem,
        replicate=replicates,
        **labels,
    )
