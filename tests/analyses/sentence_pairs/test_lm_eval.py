"""Samples that lm-evaluation-harness logs: shares are the harness's own, worked out here by its definitions."""

import copy
import json
import shutil
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from bayes_bias.analyses.sentence_pairs.lm_eval import lm_eval
from bayes_bias.analyses.sentence_pairs.scores import PairScores, read_scores
from bayes_bias.errors import SentencePairsError
from tests.helpers import refused, says


def written(path: Path, samples: list[dict]) -> Path:
    path.write_text("\n".join(map(json.dumps, samples)))  # with bare NaN, as the harness writes it
    return path


def sample(number: int, doc: dict, likelihoods, as_text: bool, **metrics) -> dict:
    responses = [[str(float(x)), "False"] if as_text else [float(x), False] for x in likelihoods]
    return {"doc_id": number, "doc": doc, "target": "0", "filtered_resps": responses, "metrics": [*metrics]} | metrics


def crows_pairs(as_text: bool, count: int = 40, seed: int = 8) -> list[dict]:
    """As utils.process_results: stereotypical where the first sentence is more likely."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        more, less = rng.normal(-40, 2, size=2)
        doc = {"sent_more": f"a{number}", "sent_less": f"b{number}", "bias_type": ["gender", "age"][number % 2]}
        metrics = {"likelihood_diff": abs(more - less), "pct_stereotype": float(more > less)}
        made.append(sample(number, doc | {"stereo_antistereo": 0}, (more, less), as_text, **metrics))
    return made


@pytest.mark.parametrize("as_text", [True, False])
def test_lm_eval_share_equals_pct_stereotype_of_crows_pairs(tmp_path, as_text):
    samples = crows_pairs(as_text)
    scores = lm_eval(written(tmp_path / "samples_crows_pairs_english_2026-01-31T10-00-00.jsonl", samples))
    assert scores.rows.ahead.mean() == np.mean([record["pct_stereotype"] for record in samples])
    assert set(scores.rows.bias_type) == {"gender", "age"}
    assert scores.decimals is None


def bbq(count: int = 300) -> tuple[list[dict], float, float]:
    """Samples, and accuracy and bias score of ambiguous contexts as the harness has them (Parrish et al. 2022)."""
    rng = np.random.default_rng(8)
    made, right, biased, known = [], [], [], []
    for number in range(count):
        ambiguous = number % 3 > 0
        groups = [["a", "woman"], ["b", "man"], ["c", "unknown"]]
        order = rng.permutation(3)
        info, answers = {}, {}
        for place, which in zip(("ans0", "ans1", "ans2"), order, strict=True):
            info[place], answers[place] = groups[which], ["The woman", "The man", "Unknown"][which]
        likelihoods = rng.normal(-5, 1, size=12)
        doc = {
            "category": ["Age", "SES"][number % 2], "example_id": number, "question_index": number % 7,
            "answer_info": info,
            "context_condition": "ambig" if ambiguous else "disambig", "biased_answers": ["The woman"], **answers,
        }  # fmt: skip
        made.append(sample(number, doc, likelihoods, True, amb_bias_score_Age=float("nan")))
        if ambiguous:
            choices = [answer for answer in answers.values() if answer != "Unknown"] + ["?"] * 10
            answer = choices[int(np.argmax(likelihoods))]
            right.append(answer == "?")
            known.append(answer != "?")
            biased.append(answer == "The woman")
    return made, float(np.mean(right)), (1 - np.mean(right)) * (2 * sum(biased) / sum(known) - 1)


def test_lm_eval_share_matches_bias_score_of_bbq(tmp_path):
    samples, accuracy, bias_score = bbq()
    scores = lm_eval(written(tmp_path / "samples_bbq.jsonl", samples))
    assert (1 - accuracy) * (2 * scores.rows.ahead.mean() - 1) == pytest.approx(bias_score, abs=1e-12)
    assert {"Age", "SES"} == set(scores.rows.bias_type)
    assert all(template.startswith(kind) for template, kind in scores.rows[["template", "bias_type"]].to_numpy())
    assert says(" ".join(scores.notices), "100 not ambiguous")
    assert says(" ".join(scores.notices), "'unknown'")


def test_lm_eval_share_equals_one_minus_accuracy_of_winogender(tmp_path):
    women = {"nurse": True, "engineer": False, "secretary": True, "plumber": False}
    rng = np.random.default_rng(8)
    samples, right = [], []
    for number in range(60):
        occupation = [*women][number % 4]
        gender = ["male", "female", "neutral"][number % 3]
        refers_to_occupation = women[occupation] != (gender == "female")  # gotcha: the stereotype is wrong
        likelihoods = rng.normal(-3, 1, size=2)
        doc = {"occupation": occupation, "participant": "person", "gender": gender, "label": 1 - refers_to_occupation}
        samples.append(sample(number, doc, likelihoods, False))
        if gender != "neutral":
            right.append(int(np.argmax(likelihoods)) == doc["label"])
    scores = lm_eval(written(tmp_path / "samples_winogender_gotcha.jsonl", samples))
    assert scores.rows.ahead.mean() == pytest.approx(1 - np.mean(right))
    assert len(scores) == 40
    assert says(" ".join(scores.notices), "20 neutral")


def test_lm_eval_pools_several_logs_with_matching_items(tmp_path):
    samples = crows_pairs(True)
    names = ("samples_crows_age", "samples_crows_gender")

    def run(time: str) -> PairScores:
        return lm_eval([written(tmp_path / f"{name}_{time}.jsonl", samples[k::2]) for k, name in enumerate(names)])

    first, second = run("2026-01-31T10-00-00.1"), run("2026-02-01T11-00-00.2")
    assert len(first) == 40
    assert first.rows.index.equals(second.rows.index)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Line 1 not JSON"),
        ("\n\n" + json.dumps(sample(0, {"sent_more": "a"}, [1, 2], True)), "line 3 lacks 'bias_type'"),
        ('{"doc_id": 1}', "Line 1 no 'doc'"),
        (json.dumps(sample(0, {"question": "?"}, [1, 2], True)), "another task question"),
        (
            json.dumps({"doc_id": 0, "doc": {"sent_more": "a"}, "filtered_resps": ["a text"]}),
            "log-likelihoods generate",
        ),
        (json.dumps(sample(0, {"sent_more": "a"}, [1, 2], True)), "line 1 lacks 'bias_type'"),
        (json.dumps(sample(0, {"sent_more": "a"}, [float("nan"), 2], True)), "nan two log-likelihoods"),
        ("", "no pairs"),
    ],
)
def test_lm_eval_raises_for_log_without_pairs(tmp_path, text, words):
    (tmp_path / "samples.jsonl").write_text(text)
    with refused(SentencePairsError, words):
        lm_eval(tmp_path / "samples.jsonl")
    with refused(SentencePairsError, "File not found none.jsonl scores"):
        lm_eval(tmp_path / "none.jsonl")


def test_sentence_pairs_command_reads_logs_of_lm_eval(tmp_path, run, from_priors):
    path = written(tmp_path / "samples_crows_pairs.jsonl", crows_pairs(True))
    code, out, _ = run("sentence-pairs", str(path))
    assert code == 0
    assert f"{100 * lm_eval(path).rows.ahead.mean():.1f}" in out
    shutil.copy(path, tmp_path / "other.csv")
    code, _, err = run("sentence-pairs", str(path), str(tmp_path / "other.csv"))
    assert (code, says(err, "FILE 2 samples_*.jsonl")) == (2, True)


def test_read_scores_returns_pair_scores_unchanged(tmp_path):
    scores = lm_eval(written(tmp_path / "samples.jsonl", crows_pairs(True)))
    assert read_scores(scores) is scores


# A pair is what it compares.

TIME = "2026-01-31T10-00-00.000001"


def log(tmp_path: Path, task: str, samples: list[dict]) -> Path:
    return written(tmp_path / f"samples_{task}_{TIME}.jsonl", samples)


def subset(samples: list[dict], kind: str) -> list[dict]:
    """The samples of a subset task: the same documents, numbered anew."""
    own = [record for record in samples if record["doc"]["bias_type"] == kind]
    return [record | {"doc_id": number} for number, record in enumerate(own)]


def test_lm_eval_counts_pair_once_for_task_with_subsets(tmp_path):
    """The share is the harness's own, pct_stereotype of the whole task."""
    samples = crows_pairs(True, 60)
    whole = log(tmp_path, "crows_pairs_english", samples)
    parts = [log(tmp_path, f"crows_pairs_english_{kind}", subset(samples, kind)) for kind in ("gender", "age")]
    alone = lm_eval(whole)
    for files in ([whole, *parts], [*parts, whole], parts, [parts[0], whole]):
        found = lm_eval(files, name="all")
        assert len(found) == 60
        assert found.rows.ahead.mean() == np.mean([record["pct_stereotype"] for record in samples])
        assert found.sha256 == alone.sha256
        repeated = len(files) > 1 and whole in files
        assert says(" ".join(found.notices), "samples repeat a pair 60 pairs counts once") == repeated


def test_lm_eval_counts_repeated_pair_in_file_once(tmp_path):
    samples = crows_pairs(True, 60)
    both = log(tmp_path, "crows_pairs_english", samples + subset(samples, "age"))
    assert lm_eval(both).sha256 == lm_eval(log(tmp_path, "crows_pairs_english_2", samples)).sha256


def test_lm_eval_averages_scores_of_repeated_pair(tmp_path):
    """CrowS-Pairs has one; in another batch its log-likelihoods differ a little."""
    samples = crows_pairs(False, 40)
    again = json.loads(json.dumps(samples[3])) | {"doc_id": 40}
    again["filtered_resps"] = [[response[0] * 1.001, False] for response in again["filtered_resps"]]
    found = lm_eval(log(tmp_path, "crows_pairs_english", [*samples, again]))
    assert len(found) == 40
    (name,) = [name for name in found.rows.index if name.startswith("a3 ")]
    (more, _), (less, _) = samples[3]["filtered_resps"]
    assert found.rows.difference[name] == pytest.approx((more - less) * 1.0005)


def test_lm_eval_raises_for_pair_with_two_scores(tmp_path):
    first, second = crows_pairs(True), crows_pairs(True, seed=9)
    files = [log(tmp_path, "crows_pairs_english", first), log(tmp_path, "crows_pairs_english_x", second)]
    with refused(SentencePairsError, f"'a0 / b0' '{files[0].name}' '{files[1].name}' two models or runs after="):
        lm_eval(files)
    a_little = json.loads(json.dumps(first))
    a_little[5]["filtered_resps"][0][0] = str(float(a_little[5]["filtered_resps"][0][0]) + 0.01)
    with refused(SentencePairsError, "'a5 / b5'"):
        lm_eval([files[0], log(tmp_path, "crows_pairs_english_y", a_little)])


def test_lm_eval_raises_for_file_names_of_two_languages(tmp_path):
    samples = crows_pairs(True, 40)
    french_samples = copy.deepcopy(samples)
    for k, record in enumerate(french_samples):
        record["doc"] |= {"sent_more": f"c{k}", "sent_less": f"d{k}"}
    english = log(tmp_path, "crows_pairs_english", samples)
    french = log(tmp_path, "crows_pairs_french_age", french_samples)
    with refused(SentencePairsError, "'samples_crows_pairs_french_age (English) (French) 2 languages separately"):
        lm_eval([english, french])
    assert len(lm_eval(english)) == len(lm_eval(french)) == 40


FRENCH = "Les femmes ne savent pas conduire, et elles sont les plus lentes de la rue {}."
ENGLISH = "The women of the town do not know how to drive, and they are slow in road {}."


def test_lm_eval_raises_for_english_and_french_sentences(tmp_path):
    """In one file, or in files with other names."""
    samples = crows_pairs(True, 40)
    for number, record in enumerate(samples):
        text = FRENCH if number % 2 else ENGLISH
        record["doc"] |= {"sent_more": text.format(number), "sent_less": text.format(number).replace("women", "men")}
        record["doc"]["sent_less"] = record["doc"]["sent_less"].replace("femmes", "hommes")
    with refused(SentencePairsError, "English French separately"):
        lm_eval(log(tmp_path, "both", samples))
    assert len(lm_eval(log(tmp_path, "one", samples[1::2]))) == 20
    halves = [log(tmp_path, "x", samples[::2]), log(tmp_path, "y", samples[1::2])]
    with refused(SentencePairsError, "English French"):
        lm_eval(halves)


OTHER_LANGUAGES = {
    "Chinese": "他在第{}个房子里很老，她很年轻。",
    "Japanese": "{}番の男は家にいたが、女はいなかった。",
    "Korean": "남자 {}는 집에 있었다",
    "Cyrillic": "Мужчина {} был в доме, а женщина была на работе.",
    "Arabic": "كان الرجل {} في البيت",
    "Turkish": "Erkek {} evde ve çok yaşlı bir adam.",
    "Polish": "Mężczyzna {} był w domu i jest stary, bo się nie spieszył.",
    "Maltese": "Ir-raġel {} kien fid-dar u huwa xiħ.",
    "Swedish": "Mannen {} var i huset och han är inte så gammal som hon.",
    "Danish": "Manden {} er i huset og han er ikke så gammel som hun.",
    "Norwegian": "Mannen {} er i huset og han er ikke så gammel som henne.",
}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_lm_eval_raises_for_english_and_other_language(tmp_path, language):
    samples = crows_pairs(True, 40)
    for number, record in enumerate(samples):
        text = (OTHER_LANGUAGES[language] if number % 2 else ENGLISH).format(number)
        record["doc"] |= {"sent_more": text, "sent_less": f"{text} {number}"}
    halves = [log(tmp_path, "x", samples[::2]), log(tmp_path, "y", samples[1::2])]
    assert len(lm_eval(halves[0])) == len(lm_eval(halves[1])) == 20
    with refused(SentencePairsError, "English and pooled separately"):
        lm_eval(halves)


@pytest.mark.parametrize(
    "written_as", [lambda t: t.replace(" ", "\u00a0"), lambda t: f" {t}  ", lambda t: normalize("NFD", t)]
)
def test_lm_eval_ignores_spaces_and_unicode_form_of_sentences(tmp_path, written_as):
    samples = crows_pairs(True, 40)
    for number, record in enumerate(samples):
        record["doc"]["sent_more"] = f"The old man in the café {number}"
        record["doc"]["sent_less"] = f"The old woman in the café {number}"
    again = copy.deepcopy(samples)
    for record in again:
        for name in ("sent_more", "sent_less"):
            record["doc"][name] = written_as(record["doc"][name])
    both = [log(tmp_path, "x", samples), log(tmp_path, "y", again)]
    assert lm_eval(both).rows.equals(lm_eval(both[0]).rows)


def test_lm_eval_raises_for_two_benchmarks(tmp_path):
    files = [log(tmp_path, "crows_pairs_english", crows_pairs(True)), log(tmp_path, "bbq", bbq()[0][:30])]
    with refused(SentencePairsError, "crows_pairs bbq separately"):
        lm_eval(files)


def requested(sample: dict, choices: list[str]) -> dict:
    """A sample with the requests that the harness made for its choices."""
    requests = {f"gen_args_{k}": {"arg_0": "context", "arg_1": f" {text}"} for k, text in enumerate(choices)}
    return sample | {"arguments": requests}


def test_lm_eval_matches_bbq_choices_by_text(tmp_path):
    """Choices in another order have the same meaning, and so have three choices with "unknown" among them."""
    rng = np.random.default_rng(8)
    samples = bbq()[0][:90]
    unknown = ["Cannot answer", "Can't be determined", "Cannot be determined", "Can't answer", "Not known"]
    unknown += ["Not enough info", "Not enough information", "Not answerable", "Undetermined", "Not sure"]
    turned, three = [], []
    for record in samples:
        answers = [record["doc"][f"ans{place}"] for place in range(3)]
        known = [answer for answer in answers if answer != "Unknown"]
        choices, scores = [*known, *unknown], record["filtered_resps"]
        order = rng.permutation(12)
        turned.append(requested(record | {"filtered_resps": [scores[k] for k in order]}, [choices[k] for k in order]))
        best = max((score[0] for score in scores[2:]), key=float)
        three_scores = [[best, "False"] if answer == "Unknown" else scores[known.index(answer)] for answer in answers]
        three.append(requested(record | {"filtered_resps": three_scores}, answers))
    plain = lm_eval(log(tmp_path, "bbq", samples))
    assert 0 < len(plain) < 60
    for name, made in (("turned", turned), ("three", three)):
        assert lm_eval(log(tmp_path, f"bbq_{name}", made)).sha256 == plain.sha256


def test_lm_eval_raises_for_bbq_choices_without_texts(tmp_path):
    samples = bbq()[0][:9]
    short = [record | {"filtered_resps": record["filtered_resps"][:3]} for record in samples]
    with refused(SentencePairsError, "line 2 3 log-likelihoods 12 'arguments'"):
        lm_eval(log(tmp_path, "bbq", short))
    letters = [requested(record, ["A", "B", "C"]) for record in short]
    with refused(SentencePairsError, "line 2 'A' 'B' 'C' must have 'The woman'"):
        lm_eval(log(tmp_path, "bbq", letters))


def test_lm_eval_matches_crows_pairs_choices_by_text(tmp_path):
    samples = crows_pairs(True)
    turned = []
    for record in samples:
        reversed_scores = record | {"filtered_resps": record["filtered_resps"][::-1]}
        turned.append(requested(reversed_scores, [record["doc"]["sent_less"], record["doc"]["sent_more"]]))
    files = log(tmp_path, "crows_pairs_english", samples), log(tmp_path, "crows_pairs_english_turned", turned)
    assert lm_eval(files[0]).sha256 == lm_eval(files[1]).sha256


def test_lm_eval_counts_bbq_question_once_with_subsets(tmp_path):
    samples, accuracy, bias_score = bbq()
    ambiguous = [record for record in samples if record["doc"]["context_condition"] == "ambig"]
    files = [log(tmp_path, "bbq_age", samples), log(tmp_path, "bbq_age_ambig", ambiguous)]
    found = lm_eval(files)
    assert found.sha256 == lm_eval(files[0]).sha256
    assert (1 - accuracy) * (2 * found.rows.ahead.mean() - 1) == pytest.approx(bias_score, abs=1e-12)
    translated = [record | {"doc": record["doc"] | {"question": "¿Quién?"}} for record in ambiguous]
    with refused(SentencePairsError, "different questions languages one by one"):
        lm_eval([files[0], log(tmp_path, "bbq_other", translated)])


def test_lm_eval_counts_winogender_sentence_once_with_subsets(tmp_path):
    rng = np.random.default_rng(8)
    samples = []
    for number in range(24):
        gender = ["male", "female"][number % 2]
        doc = {"occupation": "nurse", "participant": "person", "gender": gender}
        doc["sentence"] = f"The nurse said {number}."
        samples.append(sample(number, doc | {"label": 0}, rng.normal(-3, 1, size=2), False))
    female = [record for record in samples if record["doc"]["gender"] == "female"]
    files = [log(tmp_path, "winogender", samples), log(tmp_path, "winogender_female", female)]
    assert lm_eval(files).sha256 == lm_eval(files[0]).sha256
    hashed = copy.deepcopy(samples)
    for record in hashed:
        del record["doc"]["sentence"]
        record["doc_hash"] = f"h{record['doc_id']}"
    assert len(lm_eval([log(tmp_path, "winogender_a", hashed), log(tmp_path, "winogender_b", hashed[::-1])])) == 24


def test_lm_eval_has_same_items_for_task_and_subsets(tmp_path):
    """The first document of a subset is another one than that of the whole task."""
    samples, after = crows_pairs(True, 40), crows_pairs(True, 40)
    whole = lm_eval(log(tmp_path, "crows_pairs_english", samples))
    parts = lm_eval([log(tmp_path, f"crows_pairs_english_{kind}", subset(after, kind)) for kind in ("age", "gender")])
    assert whole.rows.index.equals(parts.rows.index)
    assert whole.rows.bias_type.equals(parts.rows.bias_type)


def test_lm_eval_reads_sentence_with_line_separator(tmp_path):
    samples = crows_pairs(True, 4)
    for record in samples:
        record["doc"]["sent_more"] += " says so"
    expected = lm_eval(written(tmp_path / "samples_crows_pairs.jsonl", samples))
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in samples)
    path = tmp_path / "samples_crows_pairs_separated.jsonl"
    path.write_text(text.replace(" says", "\u2028says"), encoding="utf-8")
    assert lm_eval(path).rows.equals(expected.rows)
