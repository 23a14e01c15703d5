"""Where the numbers of a report come from: what every kind of report says of its model."""

from typing import Any, Protocol

from bayes_bias.models.fitted import Fitted
from bayes_bias.models.model_spec import ModelSpec


class Modelled(Protocol):
    """A result of one model, read under one scope."""

    @property
    def spec(self) -> ModelSpec: ...
    @property
    def scope(self) -> str: ...
    @property
    def ci_prob(self) -> float: ...


def of_model(result: Modelled, fitted: Fitted) -> dict[str, Any]:
    """Scope, model, priors and package versions."""
    return {
        "scope": result.scope,
        "ci_prob": result.ci_prob,
        "model": result.spec.name,
        "priors": priors_of(result.spec),
        "options": dict(result.spec.options),
        "versions": fitted.versions,
    }


def priors_of(spec: ModelSpec) -> dict[str, str]:
    """The priors of a model, as they are written."""
    return {name: str(prior) for name, prior in spec.priors.items()}
