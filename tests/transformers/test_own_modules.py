"""Folders of sentence-transformers give the vectors of that library, or say why not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers as library
import torch
from sentence_transformers.sentence_transformer.modules import (
    CNN,
    Dense,
    Dropout,
    LayerNorm,
    Normalize,
    Pooling,
    Transformer,
)

import bayes_bias as bb
from bayes_bias.analyses.sweep.spec_file import read_sweep
from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.encoders import as_encoder
from bayes_bias.language_models.hugging_face import load_encoder
from tests.helpers import refused
from tests.transformers.conftest import SENTENCES, Made

pytestmark = pytest.mark.filterwarnings("ignore")  # of the library about itself

MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
OLD = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
PROMPTS = {"query": "poet: ", "passage": "the "}
WORDS = {
    "g=a": ["nurse", "poet"],
    "h=b": ["doctor", "engineer"],
    "a": ["hospital", "house"],
    "b": ["garden", "program"],
}


@pytest.fixture
def own(made: Callable[[str], Made], tmp_path: Path) -> Callable[..., Path]:
    """Save a model with these modules after its transformer, and give its folder."""

    def saved(pooling: Any = "mean", *after: Any, kind: str = "bert", modules: list[Any] | None = None, **more: Any):
        plain = tmp_path / "plain"
        shutil.copytree(made(kind).folder, plain, dirs_exist_ok=True)
        if kind == "gpt2":
            tokenizer = made(kind).tokenizer
            tokenizer.pad_token = tokenizer.eos_token
            tokenizer.save_pretrained(plain)
        torch.manual_seed(4)
        include_prompt = more.pop("include_prompt", True)
        between = modules or [Pooling(32, pooling_mode=pooling, include_prompt=include_prompt)]
        model = library.SentenceTransformer(
            modules=[Transformer(str(plain)), *between, *(module_kind() for module_kind in after)], device="cpu", **more
        )
        model.save_pretrained(str(tmp_path / "own"))
        return tmp_path / "own"

    return saved


def change(file: Path, **settings: Any) -> None:
    content = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps({**content, **settings}))


def known(folder: Path) -> np.ndarray:
    return library.SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(SENTENCES)


def test_library_vectors_differ_between_pooling_modes(own):
    """Were they alike, the tests below would prove nothing."""
    vectors = [known(own(mode)) for mode in MODES]
    for k, first in enumerate(vectors):
        for second in vectors[k + 1 :]:
            assert np.abs(first - second).max() > 0.01


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "gpt2"])
@pytest.mark.parametrize("mode", MODES)
def test_own_pooling_matches_sentence_transformers(own, kind, mode):
    folder = own(mode, kind=kind)
    encoder = load_encoder(folder)
    assert encoder(SENTENCES) == pytest.approx(known(folder), abs=1e-5)
    assert f"{mode} of layer 2" in encoder.name


@pytest.mark.parametrize("mode", MODES)
def test_older_pooling_settings_match_sentence_transformers(own, mode):
    folder = own("mean")
    flags = {name: module_kind == mode for module_kind, name in OLD.items()}
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 32, **flags}))
    modules = json.loads((folder / "modules.json").read_text())
    for module, name in zip(modules, ("Transformer", "Pooling"), strict=True):
        module["type"] = f"sentence_transformers.models.{name}"
    (folder / "modules.json").write_text(json.dumps(modules))
    assert load_encoder(folder)(SENTENCES) == pytest.approx(known(folder), abs=1e-5)


def test_older_settings_of_two_poolings_match_sentence_transformers(own):
    folder = own("mean")
    flags = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 32, **flags}))
    assert load_encoder(folder)(SENTENCES).shape == (len(SENTENCES), 64)
    assert load_encoder(folder)(SENTENCES) == pytest.approx(known(folder), abs=1e-5)


def dense(**more: Any) -> Callable[[], Any]:
    return lambda: Dense(32, more.pop("out", 16), **more)


AFTER = {
    "Normalize": (Normalize,),
    "Dense": (dense(),),
    "Dense and Normalize": (dense(activation_function=torch.nn.Identity()), Normalize),
    "Dense without bias": (dense(bias=False, activation_function=torch.nn.GELU()),),
    "Dense with a residual": (dense(out=32, use_residual=True),),
    "Dense with a projected residual": (dense(use_residual=True),),
    "LayerNorm": (lambda: LayerNorm(32),),
    "Dropout": (Dropout,),
    "several": (lambda: LayerNorm(32), dense(out=32), Dropout, Normalize),
}


@pytest.mark.parametrize("name", AFTER)
@pytest.mark.parametrize("mode", ["cls", "weightedmean"])
def test_modules_after_pooling_match_sentence_transformers(own, name, mode):
    folder = own(mode, *AFTER[name])
    assert load_encoder(folder)(SENTENCES) == pytest.approx(known(folder), abs=1e-5)


@pytest.mark.parametrize("modes", [("cls", "mean"), ("weightedmean", "max", "lasttoken")])
def test_joined_poolings_match_sentence_transformers(own, modes):
    folder = own(modes, Normalize)
    assert load_encoder(folder)(SENTENCES) == pytest.approx(known(folder), abs=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("include_prompt", [True, False])
@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_prompts_match_sentence_transformers(own, mode, include_prompt, kind, caplog):
    prompted = {"prompts": PROMPTS, "default_prompt_name": "query", "include_prompt": include_prompt}
    folder = own(mode, Normalize, kind=kind, **prompted)
    encoder = load_encoder(folder)
    assert encoder(SENTENCES) == pytest.approx(known(folder), abs=1e-5)
    assert PROMPTS["query"] in encoder.name
    second = load_encoder(folder, prompt="passage")
    model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    assert second(SENTENCES) == pytest.approx(model.encode(SENTENCES, prompt_name="passage"), abs=1e-5)
    assert "prompt 'the ' is used as requested, instead of its own" in caplog.text
    none = load_encoder(folder, prompt="")
    assert none(SENTENCES) == pytest.approx(model.encode(SENTENCES, prompt=""), abs=1e-5)
    assert len({encoder.identity, second.identity, none.identity}) == 3


def test_load_encoder_ignores_prompts_without_default(own):
    folder = own("mean", prompts=PROMPTS)
    assert load_encoder(folder)(SENTENCES) == pytest.approx(known(folder), abs=1e-5)
    assert not load_encoder(folder).prompt


def test_lower_case_matches_sentence_transformers(own):
    folder = own("mean", kind="roberta")
    before = load_encoder(folder)
    change(folder / "sentence_bert_config.json", do_lower_case=True)
    lowered = load_encoder(folder)(SENTENCES)
    assert lowered == pytest.approx(known(folder), abs=1e-5)
    assert np.abs(lowered - before(SENTENCES)).max() > 0.01
    assert load_encoder(folder).identity != before.identity


def test_inner_transformer_folder_matches_sentence_transformers(own):
    folder = own("cls")
    expected = known(folder)
    inner = folder / "0_Transformer"
    inner.mkdir()
    for file in folder.glob("*"):
        if file.is_file() and file.name not in ("modules.json", "config_sentence_transformers.json"):
            file.rename(inner / file.name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(modules))
    assert known(folder) == pytest.approx(expected, abs=1e-6)
    assert load_encoder(folder)(SENTENCES) == pytest.approx(expected, abs=1e-5)


def test_encoder_raises_for_sentence_beyond_own_length(own):
    """The library cuts it without a notice."""
    folder = own("mean")
    change(folder / "sentence_bert_config.json", max_seq_length=6)
    with refused(LanguageModelError, "tokens at most 6 not cut"):
        load_encoder(folder)(SENTENCES)
    assert load_encoder(folder)(["The nurse."]).shape == (1, 32)


# A pooling or a layer that is asked for.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pooling": "mean"}, "mean of layer 2 is used as requested, instead of its own cls of layer 2, Normalize"),
        ({"layer": "first"}, "cls of layer 1 is used as requested, instead of its own cls of layer 2, Normalize"),
        ({"pooling": "mean", "layer": 0}, "mean of layer 0 is used as requested"),
    ],
)
def test_load_encoder_logs_replaced_pooling_or_layer(own, made, caplog, options, said):
    folder = own("cls", Normalize)
    encoder = load_encoder(folder, **options)
    assert said in caplog.text
    plain = load_encoder(made("bert").folder, **{"pooling": "cls", **options})
    assert encoder(SENTENCES) == pytest.approx(plain(SENTENCES), abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"pooling": "cls"}, {"layer": "last"}, {"pooling": "cls", "layer": 2}])
def test_load_encoder_keeps_own_pooling_requested_by_name(own, caplog, options):
    folder = own("cls", Normalize)
    assert load_encoder(folder, **options)(SENTENCES) == pytest.approx(known(folder), abs=1e-5)
    assert "as requested" not in caplog.text


def test_pooling_word_finds_word_after_prompt(own, made):
    folder = own("cls", prompts=PROMPTS, default_prompt_name="query")
    encoder, plain = load_encoder(folder, pooling="word"), load_encoder(made("bert").folder, pooling="word")
    text = "The nurse is an engineer."
    shift = len(PROMPTS["query"])
    expected = plain([PROMPTS["query"] + text], [(4 + shift, 9 + shift)])
    assert encoder([text], [(4, 9)]) == pytest.approx(expected, abs=1e-6)


def test_encoder_without_modules_matches_mean_of_sentence_transformers(made):
    folder = made("bert").folder
    model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    assert load_encoder(folder)(SENTENCES) == pytest.approx(model.encode(SENTENCES), abs=1e-5)


def test_as_encoder_identity_depends_on_weights_and_prompts(own):
    def opened(**more: Any) -> Any:
        return library.SentenceTransformer(str(own("mean", **more)), device="cpu", local_files_only=True)

    encoder, prompted = as_encoder(opened()), as_encoder(opened(prompts=PROMPTS))
    assert encoder.name == "own"
    assert len(encoder.identity) == 64
    assert as_encoder(opened()).identity == encoder.identity != prompted.identity
    shorter = opened()
    shorter.truncate_dim = 8
    assert as_encoder(shorter).identity != encoder.identity
    changed = opened()
    with torch.no_grad():
        next(changed.parameters()).add_(1e-3)
    assert as_encoder(changed).identity != encoder.identity


def test_identity_depends_on_modules(own):
    identities = {load_encoder(own("mean", *after)).identity for after in ((), (Normalize,), (dense(),))}
    assert len(identities) == 3
    with_dense = own("mean", dense())
    before = load_encoder(with_dense).identity
    weights = with_dense / "2_Dense/model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert load_encoder(with_dense).identity != before


def test_encode_and_table_command_use_own_pooling(own, made, run, tmp_path):
    folder = own("cls", Normalize)
    (tmp_path / "list.csv").write_text("g=a,h=b,a,b\nnurse,doctor,hospital,garden\npoet,engineer,house,program\n")
    model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    expected = bb.cosines(WORDS, bb.language_models.encode(WORDS, model, None), controls=())
    table = bb.cosines(WORDS, bb.language_models.encode(WORDS, folder, None, cache=False), controls=())
    assert np.abs(table.values - expected.values).max() < 1e-5
    plain = bb.cosines(WORDS, bb.language_models.encode(WORDS, made("bert").folder, None, cache=False), controls=())
    assert np.abs(table.values - plain.values).max() > 0.01
    files = [str(tmp_path / "list.csv"), "--encoder", str(folder), "--controls", "none"]
    assert run("table", *files, "--out", str(tmp_path / "own.csv"))[0] == 0
    code, _, err = run("table", *files, "--pooling", "mean", "--out", str(tmp_path / "mean.csv"))
    assert code == 0
    assert "as requested" in err.replace("\n", " ")


def test_read_sweep_reads_pooling_and_layer_of_encoders(own, tmp_path):
    folder = own("cls", Normalize)
    (tmp_path / "list.csv").write_text("g=a,h=b,a,b\nnurse,doctor,hospital,garden\npoet,engineer,house,program\n")
    (tmp_path / "sweep.toml").write_text(
        'lists = ["list.csv"]\ncontrols = []\n[[embeddings]]\nencoder = "own"\n'
        '[[embeddings]]\nencoder = "own"\npooling = "mean"\nlayer = 1\n'
    )
    columns = read_sweep(tmp_path / "sweep.toml").arguments()["wordlists"].embeddings
    assert [column.provenance["pooling"] for column in columns] == ["cls", "mean"]
    for column, options in zip(columns, ({}, {"pooling": "mean", "layer": 1}), strict=True):
        expected = load_encoder(folder, **options)(["nurse"])[0]
        assert column.find(["nurse"])["nurse"] == pytest.approx(expected, abs=1e-6)


# What cannot be computed here.


def test_unsupported_modules_raise_with_working_code(own):
    folder = own(modules=[CNN(32, 8), Pooling(24)])
    with refused(LanguageModelError, "modules Transformer, CNN, Pooling SentenceTransformer(") as caught:
        load_encoder(folder)
    call = str(caught.value).split("`")[1]
    scope = {"encode": bb.language_models.encode, "lists": WORDS, "SentenceTransformer": library.SentenceTransformer}
    embedding = eval(call.replace(")`", "").replace("lists,", "lists, templates=None, encoder="), scope)
    expected = library.SentenceTransformer(str(folder), device="cpu").encode(["nurse"])[0]
    assert embedding.find(["nurse"])["nurse"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("file", "settings", "words"),
    [
        ("1_Pooling/config.json", {"pooling_mode": "attention"}, "pooling_mode 'attention'".replace("'", "")),
        ("1_Pooling/config.json", {"pooling_mode": [{}]}, "pooling_mode"),
        ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}, "SparseEncoder"),
        ("config_sentence_transformers.json", {"default_prompt_name": "quary", "prompts": PROMPTS}, "'quary' 'query'"),
        ("config_sentence_transformers.json", {"prompts": {"query": 3}}, "prompts text"),
        ("sentence_bert_config.json", {"modality_config": {"message": {"method": "forward"}}}, "modality_config"),
        ("sentence_bert_config.json", {"transformer_task": "fill-mask"}, "transformer_task"),
        ("sentence_bert_config.json", {"query_expansion": {"length": 32}}, "query_expansion"),
        ("sentence_bert_config.json", {"model_args": {"num_hidden_layers": 1}}, "model_args"),
        ("sentence_bert_config.json", {"max_seq_length": -1}, "max_seq_length -1"),
        ("2_Dense/config.json", {"activation_function": "os.system"}, "activation function os.system"),
        (
            "2_Dense/config.json",
            {"activation_function": "torch.nn.modules.linear.Linear"},
            "activation function torch.nn.modules.linear.Linear",
        ),
        ("2_Dense/config.json", {"module_input_name": "token_embeddings"}, "module_input_name"),
    ],
)
def test_load_encoder_raises_for_unknown_module_settings(own, file, settings, words):
    folder = own("mean", dense())
    change(folder / file, **settings)
    with refused(LanguageModelError, words):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ({"type": "custom_st.Module"}, "custom_st.Module needs code"),
        ({"type": "os.system"}, "os.system needs code"),
        ({"type": "sentence_transformers.models.WordWeights"}, "WordWeights"),
        ({"path": "../elsewhere"}, "outside '../elsewhere'"),
        ({"path": "/etc"}, "outside '/etc'"),
    ],
)
def test_load_encoder_raises_for_foreign_modules_or_paths(own, module, words):
    folder = own("mean", Normalize)
    modules = json.loads((folder / "modules.json").read_text())
    modules[2] |= module
    (folder / "modules.json").write_text(json.dumps(modules))
    with refused(LanguageModelError, words):
        load_encoder(folder)


@pytest.mark.parametrize("content", ["{", "[1]", "{}", "[]"])
def test_load_encoder_raises_for_damaged_modules_file(own, content):
    folder = own("mean")
    (folder / "modules.json").write_text(content)
    with refused(LanguageModelError, "modules"):
        load_encoder(folder)


def test_module_reads_pickled_weights_only_with_trust(own):
    folder = own("mean", dense())
    expected = known(folder)
    file = folder / "2_Dense/model.safetensors"
    from safetensors.torch import load_file

    torch.save(load_file(str(file)), folder / "2_Dense/pytorch_model.bin")
    file.unlink()
    with refused(LanguageModelError, "2_Dense pickled trust=True"):
        load_encoder(folder)
    assert load_encoder(folder, trust=True)(SENTENCES) == pytest.approx(expected, abs=1e-5)


def test_load_encoder_raises_for_unknown_prompt(own, made):
    with refused(LanguageModelError, "prompt 'quary' Did you mean 'query'"):
        load_encoder(own("mean", prompts=PROMPTS), prompt="quary")
    with refused(LanguageModelError, "prompt no prompts templates"):
        load_encoder(made("bert").folder, prompt="query")
