"""PLL, AUL and AULA of whole sentences agree with loops over single sentences in plain torch."""

from difflib import SequenceMatcher

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForMaskedLM

from bayes_bias.analyses.sentence_pairs.scoring import score as score_pairs
from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.likelihoods import load_masked
from tests.helpers import refused
from tests.transformers.conftest import SENTENCES, Made

PAIRS = [
    ("The nurse is an engineer.", "The housekeepers is an engineer."),
    ("She works as a doctor in the old hospital.", "He works as a programmer in the old hospital."),
    ("The poet was good!", "The poet was unbelievably good!"),
    ("He paints.", "He paints."),
]


def published(made: Made, pair: tuple[str, str]) -> list[float]:
    """The procedure of Nangia et al. (2020), section 3, step by step for one pair."""
    ids = [made.tokenizer(sentence)["input_ids"] for sentence in pair]
    kept: list[list[int]] = [[], []]
    for tag, a, b, c, d in SequenceMatcher(None, [*map(str, ids[0])], [*map(str, ids[1])]).get_opcodes():
        if tag == "equal":
            kept[0] += range(a, b)
            kept[1] += range(c, d)
    return [sum(_one_masked(made, ids[side], position) for position in kept[side][1:-1]) for side in (0, 1)]


def _one_masked(made: Made, ids: list[int], position: int) -> float:
    seen = torch.tensor([ids])
    seen[0, position] = made.tokenizer.mask_token_id
    with torch.no_grad():
        return made.model(seen).logits[0, position].log_softmax(-1)[ids[position]].item()


def all_visible(made: Made, sentence: str, weighted: bool) -> float:
    """Kaneko & Bollegala (2022), equations 4 and 5, one sentence, token by token."""
    model = AutoModelForMaskedLM.from_pretrained(made.folder, attn_implementation="eager").eval()
    ids = made.tokenizer(sentence)["input_ids"]
    with torch.no_grad():
        found = model(torch.tensor([ids]), output_attentions=True)
    logs = [found.logits[0, k].log_softmax(-1)[ids[k]].item() for k in range(len(ids))]
    if weighted:
        received = np.zeros(len(ids))
        for layer in found.attentions:
            for head in layer[0]:
                for query in head:
                    received += query.numpy()
        received /= len(found.attentions) * len(found.attentions[0][0]) * len(ids)
        logs = received * logs
    return float(np.mean(logs[1:-1]))


def test_pseudo_log_likelihood_matches_crows_pairs_procedure(masked: Made):
    expected = np.array([published(masked, pair) for pair in PAIRS])
    assert load_masked(masked.folder).pseudo_log_likelihood(PAIRS) == pytest.approx(expected, abs=1e-5)


def test_pseudo_log_likelihood_is_equal_for_same_sentence(masked: Made):
    scores = load_masked(masked.folder).pseudo_log_likelihood(PAIRS)
    assert scores[-1, 0] == scores[-1, 1] < 0


@pytest.mark.parametrize("weighted", [False, True])
def test_aul_and_aula_match_published_equations(masked: Made, weighted: bool):
    expected = [all_visible(masked, sentence, weighted) for sentence in SENTENCES]
    found = load_masked(masked.folder).all_unmasked(SENTENCES, weighted)
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def test_pll_and_aul_ignore_padding_and_order(masked: Made):
    together, alone = load_masked(masked.folder), load_masked(masked.folder, batch=1)
    assert together.pseudo_log_likelihood(PAIRS[::-1])[::-1] == pytest.approx(
        alone.pseudo_log_likelihood(PAIRS), abs=1e-5
    )
    for weighted in (False, True):
        assert together.all_unmasked(SENTENCES[::-1], weighted)[::-1] == pytest.approx(
            alone.all_unmasked(SENTENCES, weighted), abs=1e-5
        )


def test_score_pairs_returns_aula_writer_and_model(masked: Made):
    model = load_masked(masked.folder)
    frame = pd.DataFrame(PAIRS, columns=["sent_more", "sent_less"]).assign(anon_writer=["a", "a", "b", "b"])
    scored = score_pairs(model, frame, "aula")
    assert scored.score_less.to_numpy() == pytest.approx(model.all_unmasked(frame.sent_less.to_list(), True), abs=1e-6)
    assert list(scored.writer) == ["a", "a", "b", "b"]
    assert set(scored.model) == {model.name}


def test_pseudo_log_likelihood_raises_without_common_token(made):
    with refused(LanguageModelError, "'Poet' 'Doctor' token"):
        load_masked(made("bert").folder).pseudo_log_likelihood([("Poet", "Doctor")])
