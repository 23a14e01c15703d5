"""The commands for built-in lists and models: `wordlists`, `models`, and `sentences`."""

from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

import bayes_bias as bb
from bayes_bias.cli.console import print_frame, say, write_csv
from bayes_bias.cli.main import app
from bayes_bias.cli.options import (
    ControlsOption,
    OverwriteOption,
    check_outputs,
    pairs_of,
    reject,
    split_names,
    with_options,
)
from bayes_bias.cli.table_source import ListOptions
from bayes_bias.errors import BayesBiasError, EmbeddingError, TemplateError
from bayes_bias.files import check_output, copy_shipped
from bayes_bias.spreadsheets import check_hidden, read_frame
from bayes_bias.words.content import Content
from bayes_bias.words.list_files import control_names, field_names, read_names, shipped_path, wordlist_names
from bayes_bias.words.list_spreadsheets import Reading
from bayes_bias.words.wordlist import WordList, load_controls, load_wordlist


@dataclass(frozen=True, kw_only=True)
class ChosenWords:
    """The options that choose words of files for a list, by their names in the files."""

    groups: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=CLASS", help="A group of FILE and its stereotypical class. Can be repeated."),
    ] = None
    classes: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another name that is a class. Can be repeated.")
    ] = None
    word_class: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=noun", help="The role of the words of a name in the sentences of templates. Can be repeated."
        ),
    ] = None


@app.command()
@with_options
def wordlists(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LIST|FILE",
            help="The list or control class to show. With --out, files of words: spreadsheets, JSON, YAML,"
            " or text with one word per line.",
        ),
    ] = None,
    copy: Annotated[Path | None, typer.Option(help="Write the list's TOML here, to be edited.")] = None,
    *,
    chosen: ChosenWords,
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="Write the chosen words of FILE here.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file of --copy or --out.")
    ] = False,
    hidden: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="What to do with hidden rows and columns and struck-through cells of a workbook: drop or keep.",
        ),
    ] = "drop",
    columns: ListOptions,
) -> None:
    """Show the built-in word lists, or one with its words. Copy one to edit, or make one from files.

    Example: bayes-bias wordlists weat7 --copy my-list.toml; bayes-bias wordlists words.json --groups flowers=pleasant
    --groups insects=unpleasant --out my-list.csv
    """
    import pandas as pd

    if out_file is not None:
        reading = Reading(ignore_columns=columns.ignore_columns or (), hidden=check_hidden(hidden))
        _write_list(names or [], chosen, reading, out_file, overwrite)
        return
    # Without --out, the options for a new list have no effect, and one built-in list or all of them are shown.
    reject("selects words of FILE for a list. Add --out list.csv.", **asdict(chosen))
    if names and len(names) > 1:
        raise BayesBiasError(
            f"LIST names {', '.join(names)}, but only one can be shown. Make one list of them with --out, or name one."
        )
    name = names[0] if names else None
    if copy is not None:
        check_output(copy, overwrite, "--copy")
        if name not in (*wordlist_names(), *field_names(), *control_names()):
            named = "none is named" if name is None else f"'{name}' is not built in"
            raise BayesBiasError(f"--copy needs a built-in list, but {named}. Write `wordlists weat7 --copy {copy}`.")
    if name is None:  # all lists, in a table for each kind of question
        rows: dict[str, list[dict[str, Any]]] = {}
        for wordlist in map(load_wordlist, (*wordlist_names(), *field_names())):
            lengths = {"targets": len(wordlist.targets), "attributes": len(wordlist.attributes)}
            row = {"list": wordlist.name, "title": wordlist.title, **lengths}
            rows.setdefault(wordlist.question, []).append(row)
        for question, rows_of_question in rows.items():
            print_frame(pd.DataFrame(rows_of_question), title=question)
        say(f"control classes: {', '.join(control_names())}")
        return
    words = load_controls(name) if name in control_names() else columns.loaded(name, hidden=hidden)
    _print_wordlist(words)
    if copy is not None:
        assert name is not None
        copy_shipped("wordlists", shipped_path(name), copy, overwrite)
        use = f"--controls {copy}" if name in control_names() else f"`bayes-bias report {copy}`"
        say(f"\nCopied to {copy}. Use it with {use}.")


def _write_list(files: list[str], chosen: ChosenWords, reading: Reading, out_file: Path, overwrite: bool) -> None:
    """Write a list with the words of several files, as a CSV file with a row for each word.

    The files contain words by name, such as "flowers". The list has the names that are groups or classes: groups with
    their stereotypical classes (`stereotypes`), from headings in the files such as "flowers=pleasant" or from --groups,
    and further classes from --classes. Other names are omitted, with a note. The table has a column "group", which for
    groups also contains the class ("flowers=pleasant"), and a column of word classes (noun, ...) if --word-class states
    some. `reading` states which columns and hidden cells of a workbook are read.
    """
    import pandas as pd

    check_output(out_file, overwrite, "--out")
    if out_file.suffix != ".csv":
        raise BayesBiasError(f"--out '{out_file}' does not end in .csv. Lists are written as CSV, so name such a file.")
    if not files:
        raise BayesBiasError("FILE is missing. Name the files of words from which to make the list.")
    contents = [(file, read_names(file, reading)) for file in files]
    words_of_name = _words_of_files(contents)
    # The class of each group, from the headings of the files and from the options.
    headings = chain.from_iterable(content.values for _, content in contents)
    stereotypes = pairs_of("FILE", [heading for heading in headings if "=" in heading], "flowers=pleasant")
    stereotypes |= pairs_of("--groups", chosen.groups, "flowers=pleasant")
    word_class_of_name = pairs_of("--word-class", chosen.word_class, "flowers=noun")
    # The groups and classes of the list, each once and in this order.
    names = dict.fromkeys([*stereotypes, *stereotypes.values(), *(chosen.classes or ())])
    for name in (*names, *word_class_of_name):
        if name not in words_of_name:
            raise BayesBiasError(f"FILE contains no words called '{name}'.", name, words_of_name)
    rows = []  # one for each word
    for name in names:
        columns = {"group": f"{name}={stereotypes[name]}" if name in stereotypes else name}
        if word_class_of_name:
            columns["word_class"] = word_class_of_name.get(name, "")
        rows += [{"word": word, **columns} for word in words_of_name[name]]
    if not rows:
        raise BayesBiasError(
            f"--groups is missing. Name the groups among {', '.join(words_of_name)}, such as --groups NAME=CLASS."
        )
    frame = pd.DataFrame(rows)
    wordlist = load_wordlist(frame)
    notices = chain.from_iterable(content.notices for _, content in contents)
    for notice in (*notices, *wordlist.notices):
        say(f"note: {notice}")
    write_csv(frame, out_file, overwrite)
    omitted = [name for name in words_of_name if name not in names]
    note = f". Omitted: {', '.join(omitted)}" if omitted else ""
    say(f"{wordlist.text}{note}\nThe list is in {out_file}")


def _words_of_files(contents: list[tuple[str, Content]]) -> dict[str, Any]:
    """Return the words of each name in all files. Raise an error if a name has different words in two files.

    `contents` has each file with its content, whose words are by heading. A heading such as "flowers=pleasant" consists
    of the name and its stereotypical class.
    """
    words: dict[str, Any] = {}
    file_of: dict[str, str] = {}
    for file, content in contents:
        for heading, words_below in content.values.items():
            name = heading.partition("=")[0]
            if list(words.setdefault(name, words_below)) != list(words_below):
                raise BayesBiasError(
                    f"FILE '{file}' has other words for '{name}' than '{file_of[name]}'. Use files with"
                    " different names, or rename one of them."
                )
            file_of.setdefault(name, file)
    return words


def _print_wordlist(words: WordList) -> None:
    """Print a list, or the controls of one control class: title, words, topics, pairs, corrections, and source."""
    say("\n".join(text for text in (words.title, words.description) if text) + "\n")
    for group, members in words.groups.items():
        say(f"{group} (→ {words.stereotypes[group]}): {', '.join(members)}")
    for name, members in {**words.classes, **words.controls}.items():
        say(f"{name}: {', '.join(members)}")
    for category, topics in words.topics.items():
        words_by_topic = [f"{name} ({', '.join(members)})" for name, members in topics.items()]
        say(f"topics of {category}: {'; '.join(words_by_topic)}")
    if words.sub_topics != "from vectors":
        say(f"sub-topics: {words.sub_topics}")
    if words.pairs:
        say(f"pairs: {', '.join('/'.join(pair) for pair in words.pairs)}")
    for erratum in words.errata:
        say(f"erratum: {erratum}")
    for lacking in _notes_on_missing_words(words):
        say(lacking)
    if words.source.citation:
        say(f"\n{words.source.citation}" + (f" doi:{words.source.doi}" if words.source.doi else ""))


def _notes_on_missing_words(words: WordList) -> list[str]:
    """Return a line for each group or class of a list that names the words which the built-in vectors lack.

    A word with blanks, such as "new york", is also looked up in the form in which embeddings join it ("new_york").
    """
    from bayes_bias.associations.lists import DEMO
    from bayes_bias.embeddings.embedding import joined

    vectors = bb.open_embedding(DEMO).find(words.words)
    lines = []
    for name, members in {**words.groups, **words.classes, **words.controls}.items():
        absent = [word for word in members if word not in vectors and joined(word) not in vectors]
        if absent:
            examples = ", ".join(absent[:5]) + (", ..." if len(absent) > 5 else "")
            lines.append(f"not in {DEMO}: {len(absent)} of {len(members)} words of {name}: {examples}")
    return lines


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="The model to show.")] = None,
    copy: Annotated[Path | None, typer.Option(help="Write the model's TOML here, to be edited.")] = None,
    graph: Annotated[
        Path | None,
        typer.Option(
            help="Write the model's graph to this file: .mmd (Mermaid) or .dot, or .svg, .png, .pdf by Graphviz."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file of --copy or --graph.")
    ] = False,
) -> None:
    """Show the built-in models, or one with its priors. Copy one to edit, or draw its graph.

    Example: bayes-bias models crossed --copy my-model.toml
    """
    import pandas as pd

    from bayes_bias.models.spec import load_spec, spec_names

    check_outputs(overwrite, graph=graph, copy=copy)
    if name is None:
        for option, path in {"--graph": graph, "--copy": copy}.items():
            if path is not None:
                raise BayesBiasError(f"{option} needs the name of a model, such as `models crossed {option} {path}`.")
        print_frame(pd.DataFrame([{"model": n, "title": load_spec(n).title} for n in spec_names()]))
        return
    spec = load_spec(name)
    say(f"{spec.title}\n{spec.description}\n")
    print_frame(pd.DataFrame([{"parameter": p, "prior": str(prior)} for p, prior in spec.priors.items()]))
    if copy is not None:
        copy_shipped("models", name, copy, overwrite)
        say(f"Copied to {copy}. Use it with --model {copy}.")
    if graph is not None:
        from bayes_bias.associations.cosines import cosines  # imported here because showing models needs no PyMC
        from bayes_bias.models.pymc_model import pymc_model, write_graph

        # A graph requires words, so a built-in list is used.
        model = pymc_model(cosines("weat7", "googlenews-demo", controls=()), spec)
        say(f"Graph of '{spec.name}' for weat7 in {write_graph(model, graph, overwrite=overwrite)}")


@app.command()
@with_options
def sentences(
    source: Annotated[
        str,
        typer.Argument(
            metavar="LIST", help="A word list, as for `fit`, or, with --vectors, the CSV file that was written for it."
        ),
    ],
    out_file: Annotated[Path, typer.Option("--out", "-o", help="CSV file to write, or, with --vectors, .npz file.")],
    templates: Annotated[str, typer.Option(help="The sentences: a built-in set or a TOML file.")] = "plain-10",
    controls: ControlsOption = "neutral,human",
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Vectors of the sentences in LIST: a NumPy file (.npy) with one row for each, in the same"
            " order, or JSON lines, Parquet, or CSV with ids or sentences, in any order."
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    *,
    columns: ListOptions,
) -> None:
    """Write the sentences of a list to encode elsewhere, or turn their vectors into an embedding.

    Example: bayes-bias sentences weat6 --templates noun-10 --out weat6.csv; then, with an array of their vectors:
    bayes-bias sentences weat6.csv --vectors weat6.npy --out weat6.npz
    """
    from bayes_bias.language_models.encoding import sentences_to_encode
    from bayes_bias.language_models.vectors_from_elsewhere import save_sentence_vectors

    check_output(out_file, overwrite, "--out")
    if vectors is not None:
        if not source.endswith(".csv"):
            raise EmbeddingError(f"--vectors needs the CSV file of sentences as LIST, but LIST is '{source}'.")
        sentences_of_list = read_frame(Path(source), f"LIST: '{source}'", EmbeddingError, text=None)
        summary = save_sentence_vectors(sentences_of_list, vectors, out_file, overwrite=overwrite)
        say(f"{summary}. Use it with --embedding {out_file}.")
        return
    if out_file.suffix != ".csv":
        raise TemplateError(f"--out '{out_file}' must end in .csv, the format of sentences.")
    wordlist = columns.loaded(source)
    rows = sentences_to_encode(wordlist, templates, split_names(controls))
    write_csv(rows, out_file, overwrite)
    # Only words of the built-in control classes are omitted. All others raise an error.
    words = wordlist.with_controls(split_names(controls))
    n_lost = len(set(words.words) - set(rows.word))
    lost = f". Words of the control classes that do not fit these templates are omitted: {n_lost}" if n_lost else ""
    say(f"{len(rows):,} sentences of {rows.word.nunique()} words are in {out_file}{lost}")
