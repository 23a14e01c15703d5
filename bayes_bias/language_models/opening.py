"""Open models in the format of Hugging Face's `transformers`, by their folder or by their name on the hub.

Weights are read from safetensors, as float32 unless another type is requested. Pickles, which can run code, require
``trust=True``. Code that comes with a model is never run. torch and transformers are imported when a model is opened.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from bayes_bias.arguments import check_count, check_switch
from bayes_bias.errors import LanguageModelError
from bayes_bias.files import expanded, is_address
from bayes_bias.formatting import Telling

type Kind = Literal["encoder", "masked", "causal"]
type Dtype = Literal["float32", "bfloat16", "float16"]

EXTRA = "pip install 'bayes-bias[transformers]'"

_AUTO = {"encoder": "AutoModel", "masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
_LACKS = {
    "encoder": "lacks weights of its layers",
    "masked": "has no masked-language head. Use a model that was trained to fill in masks, such as BERT or RoBERTa",
    "causal": "has no language-model head. Use a model that was trained to predict the next token, such as GPT-2",
}
_READ = ("*.json", "*.txt", "*.model", "*.safetensors")
_PICKLES = ("pytorch_model*.bin",)
# Models are not downloaded here, and code that comes with a model is never run.
_LOCAL = {"local_files_only": True, "trust_remote_code": False}
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")


@dataclass(frozen=True, repr=False, eq=False)
class Transformer(Telling):
    """A model and its tokenizer, ready to read sentences."""

    name: str  # name of the folder, or on the hub
    model: Any  # a transformers model in evaluation mode
    tokenizer: Any  # a fast tokenizer, which records the positions of pieces
    window: int | None  # maximal number of tokens, including special tokens, that the model can read
    files: str  # sha256 of the names and contents of all model files

    @property
    def text(self) -> str:
        size = sum(weights.numel() for weights in self.model.parameters())
        return f"{self.name}: {type(self.model).__name__}, {size:,} weights{self._rounded}"

    @property
    def _rounded(self) -> str:
        """The type of the weights, if it is less precise than float32."""
        dtype = str(self.model.dtype).removeprefix("torch.")
        return "" if dtype == "float32" else f" in {dtype}"

    def identity(self, **settings: object) -> str:
        """Return a hash of files and settings. Models with the same hash return the same results."""
        settings |= {"dtype": self._rounded} if self._rounded else {}
        return hashlib.sha256(json.dumps([self.files, settings], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, repr=False, eq=False)
class LanguageModel(Telling):
    """An open language model, with subclasses for kinds of models."""

    transformer: Transformer

    @property
    def name(self) -> str:
        """The name of the folder, or on the hub."""
        return self.transformer.name

    @property
    def text(self) -> str:
        return self.transformer.text


def open_model(
    source: str | Path,
    kind: Kind,
    *,
    trust: bool = False,
    device: str | None = None,
    folder: Path | None = None,
    dtype: Dtype = "float32",
    device_map: str | None = None,
) -> Transformer:
    """Open a model by its folder or by its name on the hub. A model on the hub is downloaded once. See `load_masked`.

    `folder` is the folder of the transformer, if it is already known. With a `device_map`, the library distributes the
    weights over several devices. Otherwise, the model is moved to one `device`, by default the CPU.
    """
    check_choice("dtype", dtype, get_args(Dtype.__value__))
    if device_map is not None:
        _check_device_map(device_map, device)
    folder = model_folder(source, trust) if folder is None else folder
    saved = _SavedModel(folder, source, trust)
    saved.check_files()
    with quietly() as transformers:
        config = saved.config(transformers)
        tokenizer = saved.tokenizer(transformers)
        weight_options: dict[str, str] = {"dtype": dtype}
        if device_map is not None:
            weight_options["device_map"] = device_map
        model = saved.model(transformers, config, kind, weight_options)
    n_tokens = len(tokenizer)
    n_embeddings = model.get_input_embeddings().weight.shape[0]
    if n_tokens > n_embeddings:
        raise LanguageModelError(
            f"The tokenizer in '{source}' has {n_tokens:,} tokens, but the model has {n_embeddings:,}. Save both from"
            " the same model."
        )
    try:
        if device_map is None:
            model = model.to(device or "cpu")
        model.eval()
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises an AssertionError
        raise LanguageModelError(f"The device '{device}' is not available: {_first_line(error)}. Use 'cpu'.") from error
    path = expanded(source)
    name = path.resolve().name if path.is_dir() else str(source)
    return Transformer(name, model, tokenizer, _window(model, tokenizer), files_hash(folder, trust))


def model_folder(source: str | Path, trust: bool) -> Path:
    """Return the folder of a model, and download it if it is a name on the hub.

    Only settings, vocabularies, and weights are downloaded, and pickled weights only if they are trusted. A source that
    looks like a path, for example with more than one slash, is not searched on the hub.
    """
    check_installed()
    check_switch("trust", trust)
    if is_address(source):
        raise LanguageModelError(
            f"'{source}' is an address. Pass the folder of a model, or its name on the hub, such as"
            " 'organisation/name'."
        )
    path = expanded(source)
    if path.is_dir():
        return path
    if path.is_file():
        raise LanguageModelError(f"'{source}' is a file. Pass the folder of the model instead.")
    is_path = isinstance(source, Path) or path.is_absolute() or str(source)[:1] in (".", "~")
    if is_path or len(path.parts) > 2:
        raise LanguageModelError(f"Folder not found: '{source}'. Pass a folder with config.json and weights.")
    from huggingface_hub import snapshot_download

    # The names of files: settings and vocabularies, weights, and weights of modules in numbered folders ("1_Pooling").
    weights = ["model*.safetensors", *(_PICKLES if trust else ())]
    patterns = [*_READ[:-1], *weights, *(f"[0-9]_*/{pattern}" for pattern in weights)]
    try:
        return Path(snapshot_download(str(source), allow_patterns=patterns))
    except (OSError, ValueError) as error:
        raise LanguageModelError(
            f"No folder, and no model on the hub, is named '{source}' ({type(error).__name__}). Pass a folder, or check"
            " the name and the connection."
        ) from error


def check_installed() -> None:
    """Raise an error if the optional dependencies are not installed."""
    for library in ("torch", "transformers", "safetensors"):
        if find_spec(library) is None:
            raise LanguageModelError(
                f"{library} is required to open a model, but is not installed. Install it with {EXTRA}."
            )


def check_batch(batch: int) -> int:
    """Check the number of sentences that a model reads at a time."""
    return check_count("batch", batch, "sentences that a model reads at a time")


@dataclass(frozen=True)
class _SavedModel:
    """The folder of a model, and the name under which the user opens it."""

    folder: Path
    source: str | Path
    trust: bool

    def check_files(self) -> None:
        """Raise an error for a folder without a model, or with pickled weights that are not trusted.

        A model consists of its configuration (config.json), a tokenizer (a file in `_TOKENIZERS`), and weights.
        Safetensors can always be opened, and pickles (`_PICKLES`) only if they are trusted.
        """
        if not (self.folder / "config.json").is_file():
            raise LanguageModelError(
                f"The folder '{self.source}' contains no model (no config.json). Save one there with save_pretrained."
            )
        if not any(_has(self.folder, pattern) for pattern in _TOKENIZERS):
            raise LanguageModelError(
                f"The folder '{self.source}' contains no tokenizer (none of {', '.join(_TOKENIZERS)}). Save it there"
                " with save_pretrained."
            )
        if _has(self.folder, "*.safetensors"):
            return
        pickles = sorted(file.name for file in chain.from_iterable(map(self.folder.glob, _PICKLES)))
        if not pickles:
            raise LanguageModelError(
                f"The folder '{self.source}' contains no weights (*.safetensors). Save them there."
            )
        if not self.trust:
            raise LanguageModelError(
                f"The weights in '{self.source}' are pickled ({pickles[0]}), which can run code when they are opened."
                " Save them as safetensors, or pass trust=True (--trust) if you trust their origin."
            )

    def config(self, transformers: ModuleType) -> Any:
        """Return the configuration of a model, which must be an encoder or a decoder.

        Errors are raised if the file is damaged, if the model requires its own code, or if it has both parts.
        """
        try:
            config = transformers.AutoConfig.from_pretrained(self.folder, **_LOCAL)
        except Exception as error:  # damaged files raise many kinds of errors
            brings_code = "auto_map" in (self.folder / "config.json").read_text(encoding="utf-8", errors="replace")
            why = "it needs code that comes with the model, which is never run" if brings_code else _first_line(error)
            raise LanguageModelError(
                f"The config.json of '{self.source}' cannot be read: {why}. Use another model."
            ) from error
        if getattr(config, "is_encoder_decoder", False):
            raise LanguageModelError(
                f"'{self.source}' ({config.model_type}) is an encoder with a decoder. Use a model that is only one of"
                " them."
            )
        return config

    def tokenizer(self, transformers: ModuleType) -> Any:
        """Return the tokenizer, which must record the positions of pieces in the text, as only fast tokenizers do."""
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **_LOCAL)
        except Exception as error:  # every tokenizer raises its own errors
            raise LanguageModelError(
                f"The tokenizer in '{self.source}' cannot be opened: {_first_line(error)}. Save it again."
            ) from error
        if not tokenizer.is_fast:
            raise LanguageModelError(
                f"The tokenizer in '{self.source}' ({type(tokenizer).__name__}) does not return the positions of"
                " pieces. Save a fast tokenizer there (tokenizer.json)."
            )
        return tokenizer

    def model(self, transformers: ModuleType, config: Any, kind: Kind, weight_options: Mapping[str, str]) -> Any:
        """Return the model with its head, and raise an error if weights are missing.

        `kind` is "encoder", "masked", or "causal", for each of which transformers has a class (`_AUTO`) and this module
        an error message (`_LACKS`). Pickled weights are read only if they are trusted and there are no others.
        """
        auto = getattr(transformers, _AUTO[kind])
        if type(config) not in auto._model_mapping:  # the configurations of models that have this head
            raise LanguageModelError(f"'{self.source}' ({config.model_type}) {_LACKS[kind]}.")
        try:
            model, info = auto.from_pretrained(
                self.folder,
                config=config,
                # None allows pickled weights as well.
                use_safetensors=None if self.trust and not _has(self.folder, "*.safetensors") else True,
                output_loading_info=True,
                # Only this attention implementation returns attentions.
                **({"attn_implementation": "eager"} if kind == "masked" else {}),
                **weight_options,
                **_LOCAL,
            )
        except Exception as error:  # damaged files raise many kinds of errors
            raise LanguageModelError(
                f"'{self.source}' cannot be opened: {_first_line(error)}. Save it again."
            ) from error
        # transformers initialises missing weights at random. Only the pooler of an encoder may be missing, because it
        # is never used.
        missing = sorted(key for key in info["missing_keys"] if not (kind == "encoder" and "pooler" in key))
        if missing:
            raise LanguageModelError(f"'{self.source}' {_LACKS[kind]} (its files lack {missing[0]}).")
        return model


def is_masked(source: str | Path, trust: bool = False) -> bool:
    """Return True if a model can fill in masks, according to its configuration."""
    saved = _SavedModel(model_folder(source, trust), source, trust)
    saved.check_files()
    with quietly() as transformers:
        # `_model_mapping` has the types of configurations for which there is a model with this head.
        return type(saved.config(transformers)) in getattr(transformers, _AUTO["masked"])._model_mapping


def _check_device_map(device_map: str, device: str | None) -> None:
    """Raise an error if a model cannot be distributed over devices."""
    if device is not None:
        raise LanguageModelError(
            f"`device_map='{device_map}'` cannot be combined with `device='{device}'`. Omit one of them."
        )
    if find_spec("accelerate") is None:
        raise LanguageModelError(
            f"`device_map='{device_map}'` requires accelerate, which is not installed. Install it: pip install"
            " accelerate."
        )


def _window(model: Any, tokenizer: Any) -> int | None:
    """Return the maximal number of tokens that the model can read, or None without a limit.

    It is the smallest of the limits of the tokenizer and of the positions that the model has learned. A very large
    number in the tokenizer means that it has no limit.
    """
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < 10**9 else []
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        limits.append(positions)
        for name, module in model.named_modules():
            # In RoBERTa and similar models, positions of tokens begin after the padding index.
            if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
                limits.append(positions - int(module.padding_idx) - 1)
                break
    return min(limits, default=None)


def files_hash(folder: Path, trust: bool = False) -> str:
    """Return the sha256 of the names and contents of all files of a model.

    `_READ` are patterns for the names of files that are always read, and `_PICKLES` for files of pickled weights. The
    latter are included only if they are read, that is, if they are trusted and there are no safetensors.
    """
    patterns = _READ if _has(folder, "*.safetensors") or not trust else (*_READ, *_PICKLES)
    digest = hashlib.sha256()
    for file in sorted(set(chain.from_iterable(map(folder.glob, patterns)))):
        with file.open("rb") as stream:
            digest.update(f"{file.name} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def _has(folder: Path, pattern: str) -> bool:
    """Return True if the folder contains a file of this kind."""
    return next(folder.glob(pattern), None) is not None


def _first_line(error: Exception) -> str:
    """Return the first line of an error message, or the type of the error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


@contextmanager
def quietly() -> Iterator[ModuleType]:
    """Import transformers without its progress bars and loading reports. This module checks missing weights itself."""
    import transformers
    from transformers.utils import logging

    level = logging.get_verbosity()
    shows_bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield transformers
    finally:
        logging.set_verbosity(level)
        if shows_bars:
            logging.enable_progress_bar()


def tolerance(model: Any) -> dict[str, float]:
    """Return the tolerance within which two results of a model are treated as equal."""
    import torch

    epsilon = torch.finfo(model.dtype).eps
    return {"rtol": max(1e-3, 8 * epsilon), "atol": max(1e-4, 8 * epsilon)}


def check_choice(argument: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise an error if a value is not one of the choices."""
    if value not in choices:
        raise LanguageModelError(f"`{argument}` cannot be {value!r}.", value, choices)
