"""A language model as a column of an atlas: the log probabilities of each list."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.measuring.log_probability import Predicted, check_predicted, log_probabilities, name_of, open_score
from bayes_bias.progress import Prefixed, Progress
from bayes_bias.sweeps.job import Job
from bayes_bias.sweeps.job_store import Store
from bayes_bias.sweeps.running_jobs import run_jobs
from bayes_bias.table.association_table import AssociationTable
from bayes_bias.words.cloze import Cloze, Score
from bayes_bias.words.templates import Templates, load_templates
from bayes_bias.words.wordlist import WordList


@dataclass(frozen=True)
class LanguageModelColumn:
    """A masked language model in a sweep; see `bayes_bias.log_probabilities`.

    Parameters
    ----------
    model : callable, str or Path
        A folder or name of Hugging Face's, which needs ``bayes-bias[transformers]``; what `load_masked` opened; or any
        callable from clozes to the natural-log probabilities of their words. The answers of a model with an
        ``identity`` are kept in the sweep's folder, a template at a time, and reused.
    templates : Templates, str or Path
        Sentences with the slots {target} and {attribute}; each is a replicate.
    predict : {"targets", "attributes"}
        Whose probability is computed.
    name : str
        What the column is called; by default the model's name.

    Examples
    --------
    >>> LanguageModelColumn("models/bert", predict="attributes", name="BERT").name
    'BERT'
    """

    model: Score | str | Path
    templates: Templates | str | Path = "association-10"
    predict: Predicted = "targets"
    name: str = ""

    def opened(self, *, trust: bool = False, name: str | None = None) -> "LanguageModelColumn":
        """The same with model and templates in memory, and a name."""
        check_predicted(self.predict)
        templates, model = load_templates(self.templates), open_score(self.model, trust=trust)
        return replace(self, model=model, templates=templates, name=name or self.name or name_of(model))

    def with_model(self, model: Score | str | Path, name: str, *, trust: bool = False) -> "LanguageModelColumn":
        """Another model, opened, that is asked in the same way."""
        return replace(self, model=model).opened(trust=trust, name=name)

    def table(self, words: WordList, store: Store | None, progress: Progress) -> AssociationTable | str:
        """The log probabilities of a list and its control classes, or why there are none."""
        has_identity = bool(getattr(self.model, "identity", ""))
        score = _Kept(self.model, store) if store and has_identity else self.model
        step = Prefixed(f"{words.name} by {self.name}", progress)
        try:
            return log_probabilities(score, words, (), templates=self.templates, predict=self.predict, progress=step)
        except OutputError:
            raise
        except BayesBiasError as error:
            return str(error)


@dataclass(frozen=True)
class _Kept:
    """A model whose answers are kept in a store and not computed again."""

    model: Any
    store: Store

    @property
    def name(self) -> str:
        return str(getattr(self.model, "name", type(self.model).__name__))

    @property
    def identity(self) -> str:
        return str(self.model.identity)

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        depends_on = [self.identity, [astuple(cloze) for cloze in clozes]]
        (outcome,) = run_jobs([Job(self.name, answers, (self.model, clozes), depends_on)], self.store, jobs=1)
        return list(outcome.needed())


def answers(model: Score, clozes: Sequence[Cloze]) -> list[float]:
    """Log probabilities, as JSON holds them."""
    return [float(answer) for answer in model(clozes)]
