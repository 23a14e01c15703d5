"""A language model as a column of the atlas: the log probabilities of each list, kept as they come."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from bayes_bias.associations.log_probability import Predicted, check_predicted, log_probabilities
from bayes_bias.associations.table import Associations
from bayes_bias.errors import BayesBiasError, OutputError
from bayes_bias.language_models.masked import load_masked
from bayes_bias.progress import Prefixed, Progress
from bayes_bias.sentences import Templates, load_templates
from bayes_bias.sentences.cloze import Cloze, Score
from bayes_bias.tasks import Store, Task, run_tasks
from bayes_bias.words.wordlist import WordList


@dataclass(frozen=True)
class Scored:
    """A masked language model in a sweep; see `bayes_bias.log_probabilities`.

    Parameters
    ----------
    model : callable, str or Path
        A folder or name of Hugging Face's, which needs ``bayes-bias[transformers]``; what `load_masked` opened; or any
        callable from clozes to the natural-log probabilities of their words. What has an ``identity`` is asked once:
        its answers are kept in the sweep's folder, a template at a time.
    templates : Templates, str or Path
        Sentences with the slots {target} and {attribute}; each is a replicate.
    predict : {"targets", "attributes"}
        Which word's probability it is.
    name : str
        What the column is called; by default as the model is.

    Examples
    --------
    >>> Scored("models/bert", predict="attributes", name="BERT").name
    'BERT'
    """

    model: Score | str | Path
    templates: Templates | str | Path = "association-10"
    predict: Predicted = "targets"
    name: str = ""

    def opened(self, *, trust: bool = False, name: str | None = None) -> "Scored":
        """The same with model and templates in memory, and a name.

        Raises
        ------
        LanguageModelError, TemplateError, AssociationsError
        """
        check_predicted(self.predict)
        templates = load_templates(self.templates)
        model = load_masked(self.model, trust=trust) if isinstance(self.model, str | Path) else self.model
        own = getattr(model, "name", None) or getattr(model, "__name__", type(model).__name__)
        return replace(self, model=model, templates=templates, name=name or self.name or str(own))

    def table(self, words: WordList, store: Store | None, progress: Progress) -> Associations | str:
        """The numbers of a list, control classes included; or in a line why there are none."""
        assert callable(self.model)
        can_be_told = bool(getattr(self.model, "identity", ""))
        score = _Kept(self.model, store) if store and can_be_told else self.model
        told = Prefixed(f"{words.name} by {self.name}", progress)
        try:
            return log_probabilities(
                score, words, (), templates=self.templates, predict=self.predict, progress=told
            )
        except OutputError:
            raise
        except BayesBiasError as error:
            return str(error)


@dataclass(frozen=True)
class _Kept:
    """A model whose answers are kept: what was asked before is not asked again."""

    model: Any
    store: Store

    @property
    def name(self) -> str:
        return str(getattr(self.model, "name", type(self.model).__name__))

    @property
    def identity(self) -> str:
        return str(self.model.identity)

    def __call__(self, clozes: Sequence[Cloze]) -> list[float]:
        asked = [self.identity, [astuple(cloze) for cloze in clozes]]
        (outcome,) = run_tasks([Task(self.name, answers, (self.model, clozes), asked)], self.store, jobs=1)
        return list(outcome.needed())


def answers(model: Score, clozes: Sequence[Cloze]) -> list[float]:
    """Log probabilities, as JSON holds them."""
    return [float(each) for each in model(clozes)]
