"""The source of a table: options of all commands that measure a word list or read a table file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import bayes_bias as bb
from bayes_bias.cli.options import ControlsOption, input_option, known_list, reject, split_names
from bayes_bias.errors import BayesBiasError
from bayes_bias.files import refuse_pipe_or_address
from bayes_bias.spreadsheets import is_spreadsheet
from bayes_bias.words.list_spreadsheets import holds_words
from bayes_bias.words.spelling import Match, check_match
from bayes_bias.words.topics_and_pairs import SubTopicsFrom, check_sub_topics

if TYPE_CHECKING:
    from bayes_bias.associations.frequency import CovariatesFrom
    from bayes_bias.associations.log_probability import Predicted
    from bayes_bias.embeddings.embedding import Embedding
    from bayes_bias.language_models.opening import Dtype
    from bayes_bias.words.templates import Score

# The default of `--embedding`.
DEMO = ("googlenews-demo",)

ListArgument = Annotated[
    str,
    typer.Argument(
        metavar="LIST",
        help="Name of a built-in word list, a TOML file or spreadsheet with one, or a file that `bayes-bias"
        " table` wrote.",
        callback=known_list,
    ),
]
WordListArgument = Annotated[
    str,
    typer.Argument(
        metavar="LIST", help="Name of a built-in word list, a TOML file, or a spreadsheet.", callback=known_list
    ),
]

MatchOption = Annotated[
    str,
    input_option(
        metavar="HOW",
        help="How to replace a word that the embedding lacks: exact (not at all), case, accents, or subwords of"
        " a fastText model. A notice lists the words.",
    ),
]
ReplicatesOption = Annotated[
    str | None,
    input_option(
        metavar="KIND",
        help="The embeddings are replicates: the same training with several seeds (seed), corpora (corpus),"
        " or samples of the sentences (bootstrap).",
    ),
]
SubTopicsOption = Annotated[
    str | None,
    input_option(
        help="How to weight related words: from-vectors (less weight, as estimated from the vectors), independent (full"
        " weight, for words drawn at random from a lexicon), or exhaustive (full weight, if no other kinds of words"
        " exist). By default the list's own setting, or else from-vectors."
    ),
]
LanguageOption = Annotated[
    str | None,
    input_option(
        metavar="CODE",
        help="Language of the list, such as en or de, if the list does not state it. The built-in control"
        " classes are English, and only English lists get them.",
    ),
]
AllowLossOption = Annotated[
    bool,
    input_option(
        "--allow-loss",
        help="Go on if half of the words of a group or class are missing, or if words of"
        " different groups or classes have the same vector.",
    ),
]
AllowUnlikeOption = Annotated[
    bool,
    input_option("--allow-unlike", help="Return a verdict, with a warning, even if the embeddings are not comparable."),
]
TrustOption = Annotated[
    bool, input_option("--trust", help="Open files that can run code (gensim's native files, pickles).")
]
CovariatesOption = Annotated[
    list[str] | None,
    input_option(
        metavar="FILE",
        help="Adjust the bias for these numbers: a spreadsheet of words and numbers, or 'rank' for the"
        " targets' frequency rank in the embedding. Can be repeated.",
    ),
]


def covariates_of(sources: Sequence[str] | None) -> "CovariatesFrom":
    """Return the covariates that --covariates names: spreadsheets, and the word `RANK` ("rank").

    A spreadsheet has words in the first column and numbers in all other columns. "rank" is passed on, because the
    frequency rank of a word is only known when its embedding is read. A missing file is reported before any is read.
    """
    from bayes_bias.associations.frequency import RANK
    from bayes_bias.table.files import read_matrix

    for source in sources or ():
        refuse_pipe_or_address(source, "--covariates", BayesBiasError)
        if source != RANK and not Path(source).is_file():
            raise BayesBiasError(
                f"--covariates: file not found: '{source}'. Pass a spreadsheet of words and numbers, or '{RANK}'."
            )
    return [source if source == RANK else read_matrix(Path(source)) for source in sources or ()]


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """The options for reading a word list from a spreadsheet."""

    ignore_columns: Annotated[
        list[str] | None,
        input_option(
            "--ignore-column",
            metavar="HEADING",
            help="A column of LIST that contains no words, such as notes. Can be repeated.",
        ),
    ] = None

    def words(self, source: str) -> "str | bb.WordList":
        """Return the word list LIST, or its name if no option changes it."""
        return self.loaded(source) if self.ignore_columns else source

    def loaded(self, source: str, **options: Any) -> "bb.WordList":
        """Read the word list LIST with these and other options of `load_wordlist`."""
        return bb.load_wordlist(source, ignore_columns=self.ignore_columns or (), **options)


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(ListOptions):
    """The options for measuring words, regardless of the source of vectors or probabilities."""

    controls: ControlsOption = "neutral,human"
    templates: Annotated[
        str | None,
        input_option(
            help="For --encoder: the sentences to put words into, a built-in set (plain-10, noun-10, name-10)"
            " or a TOML file. For --masked and --causal: sentences with two slots, association-10 by default."
        ),
    ] = None
    replicates: ReplicatesOption = None
    sub_topics: SubTopicsOption = None
    match: MatchOption = "exact"
    language: LanguageOption = None
    allow_loss: AllowLossOption = False
    trust: TrustOption = False

    def source(self, **origin: Any) -> "TableSource":
        """Return the source of one table, with these options for measuring.

        `origin` names the embedding or language model, as fields of `Origin`.
        """
        options: dict[str, Any] = {option.name: getattr(self, option.name) for option in fields(MeasuringOptions)}
        return TableSource(**options, **origin)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The options that name the embedding or model."""

    embedding: Annotated[
        list[str],
        typer.Option(
            "--embedding",
            "-e",
            help="Built-in name, glove-6b-50d (needs the optional dependency 'glove'), file, or gensim-downloader name."
            " Repeat it for the --replicates of one embedding. `report` and `stability` also compare different"
            " embeddings.",
        ),
    ] = field(default_factory=lambda: list(DEMO))
    encoder: Annotated[
        str | None,
        input_option(
            metavar="FOLDER",
            help="Folder, or name on this machine, of a model that encodes sentences, to use instead of --embedding"
            " (needs the optional dependency 'transformers').",
        ),
    ] = None
    masked: Annotated[
        str | None,
        input_option(
            metavar="FOLDER",
            help="Folder, or name on this machine, of a masked language model (BERT), to use instead of --embedding"
            " (needs the optional dependency 'transformers'). The numbers measure how much more probable a word"
            " becomes if the sentence contains the other word.",
        ),
    ] = None
    causal: Annotated[
        str | None, input_option(metavar="FOLDER", help="As --masked, for a causal language model (GPT-2).")
    ] = None
    dtype: Annotated[
        str | None,
        input_option(
            metavar="TYPE",
            help="For --causal: type of the weights (float32, bfloat16, or float16). By default float32.",
        ),
    ] = None
    device_map: Annotated[
        str | None,
        input_option(
            metavar="MAP", help="For --causal: how to spread the model over devices, such as auto (needs accelerate)."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TableSource(MeasuringOptions, Origin):
    """The source of the numbers for a word list: an embedding, a language model, or a table file.

    Each field is a command-line option. `table` returns the table of a list, and `opened` returns the embedding.
    """

    # Options of `bayes-bias table`. Other commands use the defaults.
    pooling: str | None = field(default=None, init=False)
    layer: str | None = field(default=None, init=False)
    predict: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Raise an error if an option has no effect, or if there are two sources of numbers.

        Some options require a model of sentences (--encoder, --masked, or --causal) or a causal model, and --match
        requires word vectors. Options that replace an embedding, such as --encoder, are in `instead` with their values,
        which are None if an option was not used. Only one of them can be used, and none together with --embedding.
        """
        check_match(self.match)
        if self.reads_sentences:
            reject("applies to word vectors. Omit it.", match=self.other_match)
        else:
            reject("needs a model of sentences. Add --encoder, --masked, or --causal.", templates=self.templates)
        if self.causal is None:
            reject("applies to causal models. Add --causal, or omit it.", dtype=self.dtype, device_map=self.device_map)
        replacements = [f"{option} {source}" for option, source in self.instead.items() if source is not None]
        sources = replacements + self.named_embeddings
        if replacements and len(sources) > 1:
            option = sources[0].split()[0]  # without its value
            raise BayesBiasError(f"{option}: {', '.join(sources)} cannot be combined. Use one of them.")

    @property
    def instead(self) -> dict[str, Any]:
        """The options that replace an embedding, with their values, or None for options that were not used."""
        return {"--encoder": self.encoder, "--masked": self.masked, "--causal": self.causal}

    @property
    def named_embeddings(self) -> list[str]:
        """The embeddings that the user named, each with its option. If the default one is used, there are none."""
        return [] if tuple(self.embedding) == DEMO else [f"--embedding {name}" for name in self.embedding]

    @property
    def reads_sentences(self) -> bool:
        """Return True if the numbers come from a model that reads sentences."""
        return self.encoder is not None or self.predicts_words

    @property
    def predicts_words(self) -> bool:
        """Return True if the numbers are log probabilities of words in a masked or causal model."""
        return self.masked is not None or self.causal is not None

    @property
    def language_model(self) -> str:
        """The folder of the masked or causal model."""
        folder = self.masked if self.causal is None else self.causal
        assert folder is not None
        return folder

    def open_language_model(self) -> "Score":
        """Open the masked or causal model. A model of the other kind raises an error."""
        from bayes_bias.language_models.likelihoods import load_causal, load_masked

        if self.causal is None:
            return load_masked(self.language_model, trust=self.trust)
        dtype = cast("Dtype", self.dtype or "float32")
        return load_causal(self.causal, trust=self.trust, dtype=dtype, device_map=self.device_map)

    @property
    def other_match(self) -> str | None:
        """The value of --match, or None for the default."""
        return None if self.match == "exact" else self.match

    @property
    def related(self) -> SubTopicsFrom | None:
        """How to weight related words, as --sub-topics states it, or None to use the setting of the list.

        The option is written with hyphens ("from-vectors"), and the setting with blanks ("from vectors").
        """
        return None if self.sub_topics is None else check_sub_topics(self.sub_topics.replace("-", " "), "--sub-topics")

    @property
    def control_classes(self) -> tuple[str, ...]:
        """The names of the control classes."""
        return split_names(self.controls)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that all functions for measuring lists have in common."""
        return {"controls": self.control_classes, "allow_loss": self.allow_loss, "trust": self.trust}

    def holds_numbers(self, source: str) -> bool:
        """Return True if LIST is a file that contains numbers instead of words."""
        return is_spreadsheet(source) and not holds_words(Path(source), self.ignore_columns or ())

    @property
    def embeddings(self) -> list[Any]:
        """The embeddings as separate sources (not as replicates), which `measure_lists` opens one by one.

        If --match has another value than the default, they are opened here, because a name cannot carry the setting.
        """
        if self.other_match is None:
            return list(self.embedding)
        return [bb.open_embedding(name, trust=self.trust, match=cast(Match, self.match)) for name in self.embedding]

    def has_table(self, source: str) -> bool:
        """Return True if LIST must be passed on as a table.

        This is the case if it contains numbers or needs a masked or causal model.
        """
        return self.predicts_words or self.holds_numbers(source)

    def table(
        self, source: str, *, also: Iterable[str] = (), covariates: "CovariatesFrom" = None
    ) -> "bb.AssociationTable":
        """Return the table of LIST: a word list measured in an embedding or language model, or a table file.

        The table also contains the covariates of its words, and the vectors of the words in `also` if it is measured in
        an embedding or an encoder. Probabilities of words and table files have no vectors.
        """
        from bayes_bias.associations.frequency import with_covariates_from

        if self.predicts_words:
            return with_covariates_from(self._log_probabilities(source), None, covariates)
        if self.encoder is None and self.holds_numbers(source):
            return with_covariates_from(self.read(source), None, covariates)
        return self.measured(self.opened([source]), source, also=also, covariates=covariates)

    def read(self, source: str) -> "bb.AssociationTable":
        """Read the table in a file that was written by `bayes-bias table`."""
        from bayes_bias.table.files import read_table

        self._check_numbers(source)
        return read_table(Path(source))

    def read_alone(self, names: list[str], kind: str) -> "bb.AssociationTable":
        """Read the table file that an option names in place of an embedding, if LIST is omitted.

        `names` must contain this file alone. For other files, LIST is required, and the message describes them by
        `kind`, such as "an embedding".
        """
        path, *more = names
        if more or not is_spreadsheet(path):
            raise BayesBiasError(
                f"LIST is missing. '{path}' is {kind}, which needs a word list. Only files of `bayes-bias table` do"
                " not."
            )
        return self.read(path)

    def _check_numbers(self, source: str) -> None:
        """Raise an error for options that apply only to word lists, because LIST (`source`) is a file of numbers."""
        reject(
            f"applies to word lists, but '{source}' contains numbers. Omit it.",
            sub_topics=self.sub_topics,
            replicates=self.replicates,
            match=self.other_match,
            language=self.language,
            ignore_column=", ".join(self.ignore_columns or ()) or None,
        )

    def _log_probabilities(self, source: str) -> "bb.AssociationTable":
        """Return the table of a word list in the masked or causal language model.

        The numbers are log probabilities of words in sentences, the templates. By default, these are ten templates for
        associations.
        """
        self._check_lists([source])
        return bb.log_probabilities(
            self.words(source),
            self.open_language_model(),
            self.control_classes,
            templates=self.templates or "association-10",
            predict=cast("Predicted | None", self.predict),
        )

    def measured(
        self, embedding: "Embedding", source: str, *, also: Iterable[str] = (), covariates: "CovariatesFrom" = None
    ) -> "bb.AssociationTable":
        """Return the table of a word list in an opened embedding."""
        return bb.cosines(self.words(source), embedding, also=also, covariates=covariates, **self.settings)

    def words(self, source: str) -> "str | bb.WordList":
        """Return the word list LIST, or its name if no option changes it.

        --sub-topics and --language replace settings of the list. A file of numbers has no word list and is rejected.
        """
        if self.holds_numbers(source):
            raise BayesBiasError(f"LIST '{source}' contains numbers, but words are needed here. Name their word list.")
        if self.sub_topics is None and self.language is None:
            return super().words(source)
        return self.loaded(source, language=self.language).with_sub_topics(self.related)

    def check_sources(self) -> None:
        """Raise an error if a file is missing, before anything is measured."""
        from bayes_bias.embeddings.opening import check_source

        if not self.reads_sentences:
            for name in self.embedding:
                check_source(name)

    def opened(self, lists: Sequence[str], *, also: Iterable[str] = ()) -> "Embedding":
        """Return the embedding in which lists are measured: an opened embedding, or encoded words.

        With --encoder, the words of the lists and of `also` are encoded in sentences. Otherwise, --embedding is opened.
        If it is repeated, the embeddings must be replicates of one embedding (--replicates).
        """
        reason = "provides probabilities of words, but vectors are needed here. Use --encoder FOLDER."
        reject(reason, masked=self.masked, causal=self.causal)
        if self.encoder is not None:
            from bayes_bias.language_models.encoders import LAYER

            self._check_lists(lists)
            return bb.language_models.encode(
                [self.words(name) for name in lists],
                self.encoder,
                self.templates,
                self.control_classes,
                also=also,
                pooling=self.pooling,
                layer=self.layer or LAYER,
                trust=self.trust,
            )
        has_several = len(self.embedding) > 1
        if has_several and self.replicates is None:
            raise BayesBiasError(
                f"--embedding is given {len(self.embedding)} times, but only one is needed. If they are"
                " replicates, name their kind, such as --replicates seed."
            )
        source = self.embedding if has_several else self.embedding[0]
        embedding = bb.open_embedding(source, trust=self.trust, kind=self.replicates, match=cast(Match, self.match))
        if self.replicates is not None and not embedding.replicates:
            raise BayesBiasError(
                f"--replicates needs at least two, but '{embedding.name}' is a single {self.replicates}."
                " Pass each with its --embedding, or omit --replicates."
            )
        return embedding

    def _check_lists(self, lists: Sequence[str]) -> None:
        """Raise an error if --replicates or a list of numbers is combined with a model of sentences.

        The replicates of such a model are its templates, and a list of numbers needs no model.
        """
        reason = "applies to several embeddings. The replicates of a model of sentences are its --templates."
        reject(reason, replicates=self.replicates)
        for source in filter(self.holds_numbers, lists):
            option = next(option for option, value in self.instead.items() if value is not None)
            raise BayesBiasError(
                f"{option} cannot be used with '{source}', which already contains numbers. Name word lists, or omit it."
            )


@dataclass(frozen=True, kw_only=True)
class BeforeAndAfter(MeasuringOptions):
    """The options of two sources that are compared."""

    before: Annotated[
        list[str],
        typer.Option(
            help="Embedding before, or of one corpus, or a file that `bayes-bias table` wrote (then without"
            " LIST). With --replicates, repeat it for each."
        ),
    ]
    after: Annotated[
        list[str],
        typer.Option(
            help="Embedding after, or of the other corpus, a file that `bayes-bias table` wrote, or a"
            " debiasing method such as hard, with --sets, which is applied to the embedding before."
            " Repeat it to compare and rank several."
        ),
    ]
    encoder: Annotated[
        bool,
        input_option(
            "--encoder",
            help="--before and --after are models that encode sentences: their folders (needs the optional"
            " dependency 'transformers').",
        ),
    ] = False
    masked: Annotated[
        bool,
        input_option(
            "--masked",
            help="--before and --after are masked language models: their folders (needs the optional"
            " dependency 'transformers').",
        ),
    ] = False
    causal: Annotated[bool, input_option("--causal", help="As --masked, for causal language models.")] = False

    @property
    def versions(self) -> list[list[str]]:
        """The values of --after, grouped by version: each embedding or model, or all replicates as one version."""
        return [self.after] if self.replicates is not None else [[name] for name in self.after]

    def side(self, names: list[str]) -> TableSource:
        """Return the source of one side: --before, or one version of --after.

        `names` are embeddings or, with --encoder, --masked, or --causal, the folder of one model. Here, these options
        are switches for the kind of this model. If two are on, the source raises the error.
        """
        model_options = [option for option in ("encoder", "masked", "causal") if getattr(self, option)]
        if not model_options:
            return self.source(embedding=names)
        folder, *more = names
        if more:
            raise BayesBiasError(
                f"--{model_options[0]}: {', '.join(names)} are several models, but only one can be used. Name one"
                " folder before and one after."
            )
        return self.source(**dict.fromkeys(model_options, folder))
