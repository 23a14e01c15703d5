"""Prompts, pooling, and further modules of a folder of sentence-transformers, around its transformer.

`modules.json` lists the modules, and each has a folder with a `config.json` and sometimes weights. This package pools
and normalises itself, because the library of sentence-transformers truncates long sentences without a notice, imports
any class that a file names, and does not support layers. The library computes `Dense` and `LayerNorm`. Tests compare
vectors with `SentenceTransformer.encode`. Any other module raises an error that recommends using the library.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from bayes_bias.arguments import all_are
from bayes_bias.errors import LanguageModelError
from bayes_bias.files import read_json, sha256_of_file

MODULES = "modules.json"
_SETTINGS = "config_sentence_transformers.json"
_CONFIG = "config.json"
_LIBRARY = "sentence_transformers."
# Modes of pooling, in the order in which several are concatenated, and their names in older versions.
_MODES: Mapping[str, str] = MappingProxyType(
    {
        "cls": "pooling_mode_cls_token",
        "max": "pooling_mode_max_tokens",
        "mean": "pooling_mode_mean_tokens",
        "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
        "weightedmean": "pooling_mode_weightedmean_tokens",
        "lasttoken": "pooling_mode_lasttoken",
    }
)
# Files with the settings of a transformer, including those of older versions.
_KINDS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
_TRANSFORMER = tuple(f"sentence_{kind}_config.json" for kind in _KINDS)
# Settings of a transformer that do not affect vectors, or that always have this value in text models.
_IGNORED = {"max_seq_length", "do_lower_case", "unpad_inputs", "query_length", "document_length"}
_EXPECTED: Mapping[str, Any] = MappingProxyType(
    {
        "transformer_task": "feature-extraction",
        "module_output_name": "token_embeddings",
        "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    }
)
_HARMLESS = {"dtype", "torch_dtype", "attn_implementation", "add_pooling_layer", "use_safetensors", "trust_remote_code"}
_HARMLESS |= {"use_fast", "padding_side", "model_max_length"}
_SENTENCE = "sentence_embedding"
# Modules after the pooling. The library computes those with weights.
_AFTER = ("Dense", "LayerNorm", "Normalize")
_ACTIVATIONS, _IDENTITY = "torch.nn.modules.activation.", "torch.nn.modules.linear.Identity"

type Tensor = Any  # a tensor of torch, which is imported when a model is opened


# Maximal length of the name of a file or folder in bytes.
_LONGEST_NAME = 255


@dataclass(frozen=True)
class After:
    """A module after the pooling: its function of sentence vectors (n, d), and the hash of its files."""

    kind: str
    run: Callable[[Tensor], Tensor]
    files: str


@dataclass(frozen=True)
class OwnModules:
    """The modules of a folder, and the preparation of sentences."""

    inner: str  # folder of the transformer inside the main folder, or "" if it is the main folder
    poolings: tuple[str, ...]
    after: tuple[After, ...]
    include_prompt: bool = True  # True if the tokens of a prompt are pooled as well
    prompts: Mapping[str, str] = MappingProxyType({})
    default_prompt: str = ""
    lower: bool = False
    longest: int | None = None  # maximal number of tokens that the model reads

    @property
    def pooling(self) -> str:
        """The name of the pooling, or of several poolings whose vectors are concatenated."""
        return "+".join(self.poolings)

    @property
    def identity(self) -> list[Any]:
        """The settings that affect vectors, except those of the transformer, the pooling, and the prompt.

        The list is empty if no module changes the pooled vectors and the other settings have their defaults.
        """
        modules = [[module.kind, module.files] for module in self.after]
        has_defaults = not modules and not self.lower and self.include_prompt
        return [] if has_defaults else [modules, self.include_prompt, self.lower]

    def prompt(self, name: str | None, model: str) -> str:
        """Return the text of the prompt with this name. The default is the model's default prompt, or none."""
        if name is None:
            return self.default_prompt
        if name and name not in self.prompts:
            raise LanguageModelError(f"'{model}' has no `prompt` '{name}'.", name, self.prompts)
        return self.prompts[name] if name else ""


def read_modules(folder: Path, source: str | Path, trust: bool) -> OwnModules | None:
    """Read the modules of a folder, or return None if it contains only a transformer.

    Raises
    ------
    LanguageModelError
        If a file is damaged, if this package cannot compute a module, or if weights are pickled and not trusted.
    """
    if not (folder / MODULES).is_file():
        return None
    listed = _read(folder / MODULES, source)
    if not isinstance(listed, list) or not all_are(Mapping, listed):
        raise LanguageModelError(f"The file {MODULES} of '{source}' must be a list of modules. Download it again.")
    modules = [_Module.of(module, folder, source) for module in listed]
    kinds = [module.kind for module in modules]
    if kinds[:2] != ["Transformer", "Pooling"]:
        listed_kinds = ", ".join(kinds) or "none"
        raise _unknown(source, f"the modules {listed_kinds}, and not first a Transformer and its Pooling")
    transformer, pooling, *after_pooling = modules
    settings = transformer.settings()
    poolings, include_prompt = pooling.poolings()
    prompts, default_prompt = _prompts(folder, source)
    return OwnModules(
        inner=transformer.path,
        poolings=poolings,
        after=tuple(module.after(trust) for module in after_pooling if module.kind != "Dropout"),
        include_prompt=include_prompt,
        prompts=prompts,
        default_prompt=default_prompt,
        lower=settings.get("do_lower_case") is True,
        longest=settings.get("max_seq_length"),
    )


@dataclass(frozen=True)
class _Module:
    """An entry in the list of modules."""

    kind: str
    path: str
    folder: Path
    source: str | Path

    @classmethod
    def of(cls, listed: Mapping[str, Any], folder: Path, source: str | Path) -> "_Module":
        """Read an entry of the list of modules, which has the `type` of a module and the `path` of its folder.

        The kind of a module is the last part of its type, such as "Pooling" in "sentence_transformers.models.Pooling".
        Modules of other libraries, and modules with arguments, would run their own code and raise an error. So do paths
        that lead out of the `folder` of the model, and names that no folder can have.
        """
        kind = str(listed.get("type"))
        path = str(listed.get("path", ""))
        if not kind.startswith(_LIBRARY) or listed.get("kwargs"):
            raise _unknown(source, f"the module {kind}, which needs code that comes with it")
        parts = PurePosixPath(path).parts
        if PurePosixPath(path).is_absolute() or ".." in parts:
            raise LanguageModelError(f"'{source}' has a module outside its folder, '{path}'. Download it again.")
        if any(len(part.encode(errors="replace")) > _LONGEST_NAME for part in parts):
            raise LanguageModelError(
                f"'{source}' has a module with an impossible name of a folder, '{path[:40]}...'. Download it again."
            )
        return cls(kind.rpartition(".")[2], path, folder / path, source)

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings of the module, which are empty without a file."""
        return _mapping(self.folder / _CONFIG, self.source) if (self.folder / _CONFIG).is_file() else {}

    def settings(self) -> Mapping[str, Any]:
        """Read the settings of the transformer. Raise an error for unknown settings that may affect vectors.

        The settings are in one of the files in `_TRANSFORMER`, or there are none. A setting is harmless if it does not
        affect vectors (`_IGNORED`, `_HARMLESS`), is empty, or has the usual value (`_EXPECTED`).
        """
        settings: Mapping[str, Any] = {}
        for file in map(self.folder.joinpath, _TRANSFORMER):
            if file.is_file():
                settings = _mapping(file, self.source)
                break
        for name, value in settings.items():
            is_empty = value in (None, {}, [], False)
            is_harmless = name in _IGNORED or is_empty or value == _EXPECTED.get(name)
            if name.endswith(("_args", "_kwargs")) and isinstance(value, Mapping):
                is_harmless = value.keys() <= _HARMLESS
            if not is_harmless:
                raise _unknown(self.source, f"{name} = {json.dumps(value)[:80]} for its transformer")
        longest = settings.get("max_seq_length")
        if longest is not None and (type(longest) is not int or longest < 1):
            raise LanguageModelError(
                f"max_seq_length of '{self.source}' must be a number above 0, but is {longest!r}. Correct it, or"
                " download it again."
            )
        return settings

    def poolings(self) -> tuple[tuple[str, ...], bool]:
        """Return the modes of pooling in the order of their vectors, and True if prompts are also pooled.

        New files have one or several modes under "pooling_mode", and old files a truth value for each mode (`_MODES`
        has both names). An error is raised for a mode that this package does not know.
        """
        config = self.config  # the settings in the file of this module
        modes = config.get("pooling_mode")
        if modes is None:
            modes = [mode for mode, old_name in _MODES.items() if config.get(old_name)] or ["mean"]
        chosen = tuple(modes) if isinstance(modes, list) else (modes,)
        if any(mode not in list(_MODES) for mode in chosen):  # a list also compares values that cannot be hashed
            raise _unknown(self.source, f"pooling_mode = {json.dumps(modes)[:80]}")
        if "pooling_mode" not in config:  # an old file may name other modes
            for name, on in config.items():
                if name.startswith("pooling_mode_") and on and name not in _MODES.values():
                    raise _unknown(self.source, f"{name} = true for its pooling")
        return chosen, config.get("include_prompt") is not False

    def after(self, trust: bool) -> After:
        """Return the function of a module that changes the vector of a sentence after pooling, and a hash of its files.

        This module must be of a known kind: "Dense", "LayerNorm", or "Normalize" (`_AFTER`). Its settings must not name
        another input or output than the vector of the sentence (`_SENTENCE`). "Normalize" scales vectors to length one
        and has no weights. The other kinds are computed by the library of sentence-transformers, from a file of
        weights, which is read only if its format is safe or if the user has declared `trust`.

        The hash is of the settings and of the hash of the weights. It identifies vectors in a cache and in reports.
        """
        if self.kind not in _AFTER:
            raise _unknown(self.source, f"the module {self.kind}")
        config = self.config
        for name in ("module_input_name", "module_output_name"):
            if config.get(name, _SENTENCE) not in (None, _SENTENCE):
                raise _unknown(self.source, f"{name} = '{config[name]}' in its {self.kind}")
        has_weights = self.kind != "Normalize"
        run, hash_of_weights = self.of_library(config, trust) if has_weights else (_normalized, "")
        digest = hashlib.sha256(json.dumps([config, hash_of_weights], sort_keys=True).encode()).hexdigest()
        return After(self.kind, run, digest)

    def of_library(self, config: Mapping[str, Any], trust: bool) -> tuple[Callable[[Tensor], Tensor], str]:
        """Return a module of sentence-transformers with its weights, as a function, and the hash of the weights' file.

        The function receives and returns the vectors of sentences (n, d) under the name that the library expects
        (`_SENTENCE`). The library would import and call any name of an activation function in the settings (`config`),
        so a name that is not an activation of torch raises an error before the module is loaded.
        """
        activation = config.get("activation_function", f"{_ACTIVATIONS}Tanh")
        unknown_activation = _unknown(self.source, f"the activation function {activation}")
        if not str(activation).startswith((_ACTIVATIONS, _IDENTITY)):
            raise unknown_activation
        file = self.weights(trust)
        try:
            # A name with the beginning of an activation may still be unknown to torch.
            library = import_module("sentence_transformers.sentence_transformer.modules")
            is_activation = _is_activation(activation)  # imports torch
            module = getattr(library, self.kind).load(str(self.folder)).float().eval() if is_activation else None
        except ModuleNotFoundError as error:
            raise LanguageModelError(
                f"sentence-transformers is required for the {self.kind} of '{self.source}', but is not installed."
                " Install it with pip install sentence-transformers."
            ) from error
        except Exception as error:  # damaged files raise many kinds of errors
            raise LanguageModelError(
                f"The {self.kind} in '{self.path}' of '{self.source}' cannot be read ({error}). Download it again."
            ) from error
        if module is None:
            raise unknown_activation
        return lambda vectors: module({_SENTENCE: vectors})[_SENTENCE], sha256_of_file(file)

    def weights(self, trust: bool) -> Path:
        """Return the file of weights. Raise an error if it could run code and is not trusted."""
        safe = self.folder / "model.safetensors"
        pickled = self.folder / "pytorch_model.bin"
        file = safe if safe.is_file() or not pickled.is_file() else pickled
        if not file.is_file():
            raise LanguageModelError(f"'{self.source}' has no weights in '{self.path}'. Download it again.")
        if file is pickled and not trust:
            raise LanguageModelError(
                f"The weights in '{self.path}' of '{self.source}' are pickled, which can run code when they are opened."
                " Save them as safetensors, or pass trust=True (--trust) if you trust their origin."
            )
        return file


def _is_activation(name: Any) -> bool:
    """Return True for the full name of an activation of torch, that is, of a class of modules.

    `_ACTIVATIONS` is the beginning of these names ("torch.nn.modules.activation."), and `_IDENTITY` the name of the
    module that changes nothing.
    """
    if name == _IDENTITY:
        return True
    if not str(name).startswith(_ACTIVATIONS):
        return False
    nn = import_module("torch.nn")
    activation = getattr(nn, str(name).removeprefix(_ACTIVATIONS), None)
    return isinstance(activation, type) and issubclass(activation, nn.Module)


def _read(file: Path, source: str | Path) -> Any:
    """Return the content of a JSON file of a model."""
    return read_json(file, f"'{source}', {file.name}:", LanguageModelError)


def _mapping(file: Path, source: str | Path) -> Mapping[str, Any]:
    """Return the settings in a file."""
    content = _read(file, source)
    if not isinstance(content, Mapping):
        raise LanguageModelError(f"'{source}' has no settings in {file.name}. Download it again.")
    return content


def _unknown(source: str | Path, part: str) -> LanguageModelError:
    """Return the error for a part of a model that cannot be computed here, with the alternatives."""
    return LanguageModelError(
        f"'{source}' has {part}, which cannot be computed here. In Python, open the model with its library:"
        f" `encode(lists, SentenceTransformer('{source}'))`. Alternatively, save only the transformer with"
        " save_pretrained."
    )


def _prompts(folder: Path, source: str | Path) -> tuple[Mapping[str, str], str]:
    """Read all prompts by name, and the text of the default prompt, or "" if there is none.

    They are in the file `_SETTINGS` of the model's folder, which also states the type of the model.
    """
    settings = _mapping(folder / _SETTINGS, source) if (folder / _SETTINGS).is_file() else {}
    if settings.get("model_type", "SentenceTransformer") != "SentenceTransformer":
        raise _unknown(source, f"the type {settings['model_type']}")
    prompts = settings.get("prompts") or {}
    name = settings.get("default_prompt_name")
    if not isinstance(prompts, Mapping) or not all_are(str, prompts.values()):
        raise LanguageModelError(f"The prompts of '{source}' in {_SETTINGS} must be text. Download it again.")
    if name is not None and name not in prompts:
        raise LanguageModelError(f"'{source}' lacks its default prompt '{name}'.", name, prompts)
    return prompts, prompts[name] if name is not None else ""


def _normalized(vectors: Tensor) -> Tensor:
    """Scale vectors (n, d) to length one."""
    return import_module("torch.nn.functional").normalize(vectors, p=2, dim=-1)


# The vector of a sentence, computed from the vectors of its tokens.


def pooled(states: Tensor, tokens: Sequence[int], mode: str) -> Tensor:
    """Return the vector of a sentence from the states (tokens, d) at the positions `tokens`.

    The `mode` of pooling has the name that sentence-transformers uses. In "mean_sqrt_len_tokens", the sum is divided by
    the square root of the number of tokens. In "weightedmean", the weight of a token is its position in the sentence,
    from 1. The result of any other mode ("mean") is the mean.
    """
    torch = import_module("torch")
    vectors = states[list(tokens)]
    match mode:
        case "cls":
            return vectors[0]
        case "lasttoken":
            return vectors[-1]
        case "max":
            return vectors.max(dim=0).values
        case "mean_sqrt_len_tokens":
            return vectors.sum(dim=0) / len(tokens) ** 0.5
        case "weightedmean":
            weights = torch.tensor(tokens, dtype=vectors.dtype, device=vectors.device) + 1
            return (vectors * weights[:, None]).sum(dim=0) / weights.sum()
    return vectors.mean(dim=0)
