"""Log-likelihoods of sentences agree with a loop over tokens in plain torch."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch

from bayes_bias.analyses.sentence_pairs.scoring import score as score_pairs
from bayes_bias.errors import LanguageModelError
from bayes_bias.language_models.causal import load_causal
from tests.helpers import refused
from tests.transformers.conftest import SENTENCES, WINDOW, Made


def by_hand(made: Made, sentence: str) -> float:
    """Token by token, the first after the token that begins a text."""
    read, total = [made.tokenizer.bos_token_id], 0.0
    for token in made.tokenizer(sentence)["input_ids"]:
        with torch.no_grad():
            total += made.model(torch.tensor([read])).logits[0, -1].softmax(-1)[token].log().item()
        read.append(token)
    return total


def test_a_sentence_has_the_sum_of_its_tokens(made: Callable[[str], Made]):
    own = made("gpt2")
    expected = np.array([by_hand(own, sentence) for sentence in SENTENCES])
    assert load_causal(own.folder).log_likelihood(SENTENCES) == pytest.approx(expected, abs=1e-4)
    alone = load_causal(own.folder, batch=1).log_likelihood(SENTENCES[::-1])[::-1]
    assert load_causal(own.folder).log_likelihood(SENTENCES) == pytest.approx(alone, abs=1e-5)


def test_pairs_have_signed_scores(made: Callable[[str], Made]):
    model = load_causal(made("gpt2").folder)
    frame = pd.DataFrame({"sentence_more": SENTENCES[:2], "sentence_less": SENTENCES[2:]})
    scored = score_pairs(model, frame, "likelihood")
    swapped = frame.rename(columns={"sentence_more": "sentence_less", "sentence_less": "sentence_more"})
    back = score_pairs(model, swapped, "likelihood")
    assert (scored.score_more - scored.score_less).to_numpy() == pytest.approx(
        (back.score_less - back.score_more).to_numpy(), abs=1e-5
    )


def test_the_token_before_counts_in_the_window(made: Callable[[str], Made]):
    model = load_causal(made("gpt2").folder)
    piece = "!" * (WINDOW - 1)
    assert np.isfinite(model.log_likelihood([piece])).all()
    with pytest.raises(LanguageModelError, match=f"has {WINDOW + 1} tokens, and .* reads at most {WINDOW}"):
        model.log_likelihood([piece + "!"])


def test_a_model_that_sees_what_follows_is_refused(made: Callable[[str], Made]):
    with refused(LanguageModelError, "causal"):
        load_causal(made("bert").folder)
