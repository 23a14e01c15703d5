"""`bb.sweep`: every list in every embedding, each cell computed once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from bayes_bias.arguments import check_jobs, check_path, check_switch, listed
from bayes_bias.associations.cosine import CONTROLS
from bayes_bias.errors import EmbeddingError, OutputError
from bayes_bias.estimands.facets import DEFAULT_SCOPE, ScopeName
from bayes_bias.inference.sampling import Sampling
from bayes_bias.models.spec import ModelSpec
from bayes_bias.progress import Prefixed, Progress, Quiet
from bayes_bias.sweeps.asked import SAMPLING, Asked, check_chosen, read_lists
from bayes_bias.sweeps.cells import Cell, CosineCell, ScoredCell
from bayes_bias.sweeps.columns import Column, check_recipes, open_columns, read_columns
from bayes_bias.sweeps.found import Sweep, assembled
from bayes_bias.sweeps.pooling import pool_cells
from bayes_bias.sweeps.recipes import Recipe
from bayes_bias.sweeps.shared_words import shared_errors
from bayes_bias.tasks import Outcome, Task, open_store, run_tasks
from bayes_bias.tasks.store import MARKER
from bayes_bias.words.wordlist import WordList

# The folder of results inside that of a sweep; the atlas lies beside it.
CELLS = "cells"


def sweep(
    embeddings: Mapping[str, Any] | Sequence[Any],
    lists: str | Path | WordList | Sequence[str | Path | WordList],
    *,
    models: Iterable[str | Path | ModelSpec] = ("crossed",),
    measures: Iterable[str] | Literal["all"] = (),
    debiasing: Sequence[Recipe] = (),
    controls: Iterable[str | Path | WordList] = CONTROLS,
    posteriors: Literal["all", "none"] | float | Iterable[tuple[str, str]] = "all",
    scope: ScopeName = DEFAULT_SCOPE,
    ci_prob: float = 0.95,
    seed: int = 1,
    sampling: Sampling = SAMPLING,
    folder: str | Path | None = None,
    jobs: int = -1,
    client: Any = None,
    allow_loss: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Many lists in many embeddings: the bias of every cell, and what all of them say together.

    Parameters
    ----------
    embeddings : mapping of str to embedding, or sequence of embeddings
        By their names, or under the names of their files; each is anything that `open_embedding` opens, a list of
        replicates (seeds) among it. Each is read once. Or language models, each a `Scored`: a sweep has either cosines
        or log probabilities.
    lists : str, Path, WordList, or a sequence of them
    models : iterable of str, Path or ModelSpec
        Crossed models. Pooling and rankings are those of the first.
    measures : iterable of str, or "all"
        The literature's measures beside the posterior, by their names in `measures.measure_all`.
    debiasing : sequence of Recipe
        Each makes a further column of every embedding that it applies to.
    controls : iterable of str, Path or WordList
        See `bayes_bias.cosines`.
    posteriors : {"all", "none"}, float, or pairs of str
        All cells are screened by the quasi-F, `measures.quasi_f`, in hundredths of a second each. A number is the
        p-value below which a model is fitted, too; pairs name an embedding and a list each. Cells that are only
        screened enter the pooling with the quasi-F's bias and standard error, and count in Holm's adjustment: what was
        not fitted was asked all the same. With "none" nothing is pooled.
    scope, ci_prob, seed
        See `verdict` and `fit`; every cell is fitted with the same seed.
    sampling : Sampling
        Of each cell. Fewer draws than those of a single list; convergence is checked in each cell.
    folder : str or Path, optional
        Where results are kept, in a folder ``cells`` in it, under a hash of list, vectors, model and settings. A sweep
        that was killed, or has grown, computes what is not there, and two may use a folder at a time.
    jobs : int
        Processes; -1 for one on each core, 1 for none but this.
    client : distributed.Client, optional
        Of a Dask cluster, which then does the work; `bayes-bias sweep --scheduler ADDRESS` connects to one.
    allow_loss, trust
        See `bayes_bias.cosines`.
    progress : Progress, optional

    Returns
    -------
    Sweep
        ``cells`` is a row for each embedding and list; ``write(sweep(...), folder)`` makes the atlas.

    Raises
    ------
    BayesBiasError
        An input is wrong; names, files, lists, models and settings are checked before anything is read. What goes
        wrong in one cell, or in reading one embedding, is recorded in ``failures``, and the rest goes on.

    Examples
    --------
    >>> found = sweep(["googlenews-demo", "glove.txt"], ["weat6", "weat7"], folder="audit")     # doctest: +SKIP
    >>> found.pooled.embeddings                                                                 # doctest: +SKIP
    """
    progress = progress or Quiet()
    asked = Asked.checked(models, measures, posteriors, scope, ci_prob, seed, sampling)
    check_jobs(jobs)
    check_switch("allow_loss", allow_loss)
    words = read_lists(lists, controls)
    opened = open_columns(embeddings, trust)
    recipes = listed("debiasing", debiasing, Recipe, "[Recipe('debiased', sets)]", EmbeddingError)
    names = check_recipes(recipes, opened)
    check_chosen(asked.posteriors, names, [each.name for each in words])
    store = None if folder is None else open_store(check_path("folder", folder, OutputError) / CELLS)
    columns = list(read_columns(opened, recipes, words, store, progress))
    cells = _cells(columns, words, allow_loss)

    def run(what: str, tasks: Mapping[Any, Task]) -> dict[Any, Outcome]:
        told = Prefixed(what, progress)
        done = run_tasks(list(tasks.values()), store, jobs=jobs, client=client, progress=told)
        return dict(zip(tasks, done, strict=True))

    screened = run("quasi-F", {at: cell.screened(ci_prob) for at, cell in cells.items()})
    chosen = {at: cell for at, cell in cells.items() if asked.fits(*at, screened[at])}
    fitted = run(
        "posteriors",
        {(how.spec.name, *at): cell.fitted(how) for how in asked.fittings for at, cell in chosen.items()},
    )
    measured = (
        run("measures", {at: cell.measured(asked.measures, seed, ci_prob) for at, cell in cells.items()})
        if asked.measures != ()
        else {}
    )
    found = assembled(asked, columns, words, screened, fitted, measured)
    if asked.posteriors == "none":
        return found
    progress.step("pooling")
    influence = {at: o.result["influence"] for at, o in screened.items() if not o.failed}
    shared = shared_errors(influence, scope)
    return replace(found, pooled=pool_cells(found.cells, shared, ci_prob=ci_prob, seed=seed, noun=found.noun))


def _cells(
    columns: Sequence[Column], lists: Sequence[WordList], allow_loss: bool
) -> dict[tuple[str, str], Cell]:
    """Every list in every embedding that could be read, with no more vectors than its words need; or by a model."""
    return {
        (column.name, words.name): CosineCell(
            words, column.embedding.excerpt([*words.targets, *words.attributes]), allow_loss
        )
        if column.embedding is not None
        else ScoredCell(words.name, column.name, column.scored[words.name])
        for column in columns
        if not column.failed
        for words in lists
    }


def is_sweep(folder: Path) -> bool:
    """Whether a sweep was begun in this folder."""
    return (folder / CELLS / MARKER).is_file()
