"""Without torch a model that is asked for says what to install."""

import json
from collections.abc import Callable
from importlib.util import find_spec as find
from pathlib import Path

import pytest

from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models import opening
from bayes_bias.language_models.hugging_face import load_encoder
from bayes_bias.language_models.likelihoods import load_causal, load_masked
from bayes_bias.language_models.own_modules import read_modules
from tests.helpers import refused


@pytest.mark.parametrize("load", [load_encoder, load_masked, load_causal])
@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_loaders_raise_without_torch_or_transformers(
    load: Callable[[Path], object], library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(opening, "find_spec", lambda name: None if name == library else find("sys"))
    with pytest.raises(LanguageModelError) as caught:
        load(tmp_path)
    assert str(caught.value) == (
        f"{library} is required to open a model, but is not installed. Install it with pip install"
        " 'bayes-bias[transformers]'."
    )


def test_dense_module_without_its_library_raises_with_install_command(tmp_path: Path) -> None:
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
    for path in kinds:
        (tmp_path / path).mkdir(exist_ok=True)
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "2_Dense/model.safetensors").touch()
    with refused(LanguageModelError, "sentence-transformers Dense pip install"):
        read_modules(tmp_path, tmp_path, trust=False)
