"""`bayes-bias wordlists`: which lists are shipped."""

from typing import Annotated

import pandas as pd
import typer

from bayes_bias.cli.app import app
from bayes_bias.cli.console import say
from bayes_bias.cli.frames import print_frame
from bayes_bias.words.list_files import control_names, wordlist_names
from bayes_bias.words.wordlist import WordList, load_controls, load_wordlist


@app.command()
def wordlists(
    name: Annotated[str | None, typer.Argument(metavar="[LIST]", help="Show one list, or control class.")] = None,
) -> None:
    """The shipped word lists, or one of them with its words, source and errata.

    Example: bayes-bias wordlists weat7
    """
    if name is None:
        rows = [(n, load_wordlist(n)) for n in wordlist_names()]
        frame = [
            {"list": n, "title": w.title, "targets": len(w.targets), "attributes": len(w.attributes)} for n, w in rows
        ]
        print_frame(pd.DataFrame(frame))
        say(f"control classes: {', '.join(control_names())}")
        return
    words = load_controls(name) if name in control_names() else load_wordlist(name)
    _print_wordlist(words)


def _print_wordlist(words: WordList) -> None:
    say("\n".join(text for text in (words.title, words.description) if text) + "\n")
    for group, members in words.groups.items():
        say(f"{group} (→ {words.stereotypes[group]}): {', '.join(members)}")
    for name, members in {**words.classes, **words.controls}.items():
        say(f"{name}: {', '.join(members)}")
    for home, topics in words.topics.items():
        say(f"topics of {home}: {'; '.join(f'{name} ({", ".join(members)})' for name, members in topics.items())}")
    if words.pairs:
        say(f"pairs: {', '.join('/'.join(pair) for pair in words.pairs)}")
    for erratum in words.errata:
        say(f"erratum: {erratum}")
    if words.source.citation:
        say(f"\n{words.source.citation}" + (f" doi:{words.source.doi}" if words.source.doi else ""))
