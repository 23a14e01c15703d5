"""Random nulls of several lists, drawn by other processes while this one goes on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

import joblib

from bayes_bias.checks.calibration import Calibration
from bayes_bias.errors import WordListError
from bayes_bias.models.model_spec import ModelSpec
from bayes_bias.models.structures import structure_of
from bayes_bias.sweeps.running_jobs import beside

# A process takes half a gigabyte, and as long to start as forty draws take.
_MOST_PROCESSES = 4
_WORTH_A_PROCESS = 40


def drawn_beside(
    designs: Sequence[Callable[..., Calibration]], spec: ModelSpec, draws: int, seed: int
) -> AbstractContextManager[Iterator[Calibration | str]]:
    """The nulls of one list after the other, or why there are none; they are being drawn from now on.

    A design is `calibrate` with a list and an embedding. Nothing is drawn where each fit of the model takes long.
    """
    lists = len(designs) if draws and structure_of(spec).COLLAPSED else 0
    jobs = min(joblib.effective_n_jobs(-1), lists, _MOST_PROCESSES) if lists * draws >= _WORTH_A_PROCESS else 1
    work = (joblib.delayed(_drawn)(calibrate, spec, draws, seed) for calibrate in designs[:lists])
    return beside(work, jobs)


def _drawn(calibrate: Callable[..., Calibration], spec: ModelSpec, draws: int, seed: int) -> Calibration | str:
    try:
        return calibrate(models=[spec], draws=draws, seed=seed, jobs=1)
    except WordListError as error:
        return str(error)
