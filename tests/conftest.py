"""Fixtures that several tests share, and the rule that whatever samples is marked as slow."""

import gc
import os
import pickle
import tomllib
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import nutpie
import pytensor
import pytest
import xarray as xr
from hypothesis import settings

import benchmarks.reference
from bayes_bias import AssociationTable, compare, cosines, fit, load_wordlist
from bayes_bias.analyses.comparison.comparison import Comparison
from bayes_bias.cli import console, main
from bayes_bias.documents import writer
from bayes_bias.documents.writer import Rendered
from bayes_bias.files import CACHE_VARIABLE
from tests.helpers import PLANTED, REFERENCE, SHORT, Vectors, changed, design, priors_for_posteriors, random_table

# What needs torch has an environment of its own (`make test-transformers`), as has what needs no optional dependency
# (`make test-core`).
collect_ignore = ["core"] if find_spec("torch") else ["core", "transformers"]
if "BROWSER_TESTS" not in os.environ:  # `make test-explore`
    collect_ignore.append("explore_browser")

# Speed is measured in benchmarks/: a deadline in a test fails where the machine is busy.
settings.register_profile("whole", deadline=None, max_examples=40)
settings.register_profile("fast", deadline=None, max_examples=20)
settings.load_profile("whole")

# PyTensor notes for every variable where it was made, which is deep below pytest, and no test reads it.
pytensor.config.traceback__limit = 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that uses a fixture that samples is slow; one that samples on its own is marked where it is written.

    What needs gensim is left out where there is none, which has no wheel for Python 3.14.
    """
    for item in items:
        if "sampled" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("gensim") and not find_spec("gensim"):
            item.add_marker(pytest.mark.skip(reason="gensim is not installed"))


def pytest_collection_finish() -> None:
    """The garbage collector took a sixteenth of the time: it leaves alone what was imported, and comes less often."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Nothing samples behind the back of `make test-fast`."""
    if item.get_closest_marker("slow"):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nutpie, "sample", _refuse_to_sample)
        return (yield)


def _refuse_to_sample(*_: object, **__: object) -> None:
    pytest.fail("this samples; mark it with pytest.mark.slow, or have its fixture ask for `sampled`")


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Workers share a cache, so that each random list is drawn once, and no test reads what an earlier version drew."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(folder))
        yield


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds what lies in the checkout's folder, such as the `report` of `make report`, or leaves anything."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def from_priors() -> Iterator[None]:
    """For tests of pages and commands: PyMC models are not compiled."""
    with priors_for_posteriors():
        yield


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what a page says: no figure is rendered and no posterior written, which takes a second or two.

    Of each kind of page one test renders all of it.
    """

    def render(name: str, ax: object, formats: Sequence[str]) -> Rendered:
        return Rendered(name, dict.fromkeys(formats, b"<svg/>"), lacks_letters=False)

    monkeypatch.setattr(writer, "_render_formats", render)
    monkeypatch.setattr(writer, "save_posterior", lambda tree, path, **_: path.write_bytes(b""))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], Any]], Any]:
    """Makes what takes seconds once for all workers: the first one keeps it in a file, for which the others wait."""

    def of(name: str, make: Callable[[], Any]) -> Any:
        if "PYTEST_XDIST_WORKER" not in os.environ:
            return make()
        import fcntl  # which Windows lacks

        file = tmp_path_factory.getbasetemp().parent / f"{name}.pickle"
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                file.write_bytes(pickle.dumps(make()))
        return pickle.loads(file.read_bytes())

    return of


@pytest.fixture(scope="session")
def sampled() -> None:
    """Asked for by every fixture that samples, so that whatever uses that fixture is slow."""


@pytest.fixture(scope="session")
def small_table() -> AssociationTable:
    return random_table()


@pytest.fixture(scope="session")
def small_fit(sampled: None, small_table: AssociationTable) -> xr.DataTree:
    """One fit of the default model for all tests: compiling it is what takes time."""
    return fit(small_table, seed=1, sampling=SHORT)


@pytest.fixture(scope="session")
def hierarchical_fit(sampled: None, shared: Callable[..., Any], small_table: AssociationTable) -> xr.DataTree:
    """The published model of the same table."""
    return shared("hierarchical", lambda: fit(small_table, "hierarchical", seed=1, sampling=SHORT))


@pytest.fixture(scope="session")
def planted(sampled: None, shared: Callable[..., Any], small_table: AssociationTable) -> Comparison:
    """A debiasing that took some of the bias away."""
    return shared("planted", lambda: compare(small_table, changed(small_table, PLANTED), sampling=SHORT))


@pytest.fixture(scope="session")
def fit_of_templates(sampled: None, shared: Callable[..., Any]) -> xr.DataTree:
    """A list in the ten templates of the shipped encoder."""
    return shared("templates", lambda: fit(cosines("weat7", "minilm-demo", controls=()), seed=1, sampling=SHORT))


@pytest.fixture(scope="session")
def published_cosines() -> Callable[..., AssociationTable]:
    """Reads a published table of cosines, its rows that code missing words removed."""
    return benchmarks.reference.published_cosines


@pytest.fixture(scope="session")
def glove() -> Vectors:
    """GloVe-840B vectors of all WEAT items."""
    return _vectors(REFERENCE / "glove840b_weat_items.npz")


@pytest.fixture(scope="session")
def glove_50d() -> Vectors:
    """GloVe vectors of the words of weat7 and of three pairs, at their original lengths."""
    return _vectors(REFERENCE / "glove6b_50d_weat7.npz")


@pytest.fixture(scope="session")
def google_news() -> Vectors:
    """GoogleNews vectors of professions, gender pairs and the 1,000 words that lean most to he or she."""
    return _vectors(REFERENCE / "googlenews_subset.npz")


@pytest.fixture(scope="session")
def bolukbasi() -> dict[str, list]:
    """Defining sets, professions and gender-specific words of Bolukbasi et al. (2016)."""
    return tomllib.loads((Path(__file__).parent / "measures" / "bolukbasi2016.toml").read_text())


@pytest.fixture(scope="session")
def study(glove: Vectors) -> Callable[[str], AssociationTable]:
    """WEAT 1 to 10 on GloVe-840B, by the name of the list."""

    def of(name: str) -> AssociationTable:
        words = load_wordlist(name)
        classes = {c: list(words.classes[c]) for c in words.stereotypes.values()}
        return design(glove, {g: list(words.groups[g]) for g in words.stereotypes}, classes)

    return of


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Runs a command, of these `commands` if they are given; gives exit code, standard output and standard error."""
    # Rich reads the width when its console is made, which may have been in a test before.
    for stream in (console.out, console._err):
        monkeypatch.setattr(stream, "width", 200)

    def call(*arguments: object, **commands: Any) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments], **commands)
        printed = capsys.readouterr()
        return int(stop.value.code or 0), printed.out, printed.err

    return call


def _vectors(path: Path) -> Vectors:
    with np.load(path) as file:
        return dict(zip(file["words"].tolist(), file["vectors"].astype(float), strict=True))
