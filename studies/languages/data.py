"""The vectors of Lewis & Lupyan (2020) as embeddings and lists.

Words that agree in grammatical gender are compared with each other: a male word with male forms, a female word with
female forms. A word is therefore given both, one after the other, and a male word zeros in the place of female forms.
Their dot product is then the cosine of the two forms that agree.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_bias as bb

CORPORA = ("wiki", "subtitles", "wiki_cc", "wiki_native")
MALE = ("male", "man", "boy", "brother", "he", "him", "his", "son")
FEMALE = ("female", "woman", "girl", "sister", "she", "her", "hers", "daughter")
CAREER = bb.wordlist(
    name="career",
    groups={"male": MALE, "female": FEMALE},
    classes={
        "career": ["executive", "management", "professional", "corporation", "salary", "office", "business", "career"],
        "family": ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"],
    },
    stereotypes={"male": "career", "female": "family"},
)
# People's implicit association by language, adjusted by the original for sex, age and order of blocks; median age.
IAT, AGE = "es_iat_sex_age_order_implicit_resid", "median_country_age"
# The original leaves Zulu out there, and averages Croatian and Serbian.
LEFT_OUT, TOGETHER = ["zu"], {"sr": "hr"}
# Of people's scores D within a language; not in the data, and about what large samples of this test report.
SD_OF_IAT = 0.37
# Those that a language writes alike are no pair; with fewer pairs than this a language is left out.
LEAST_PAIRS = 5

NAMES = {
    "ar": "Arabic", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "ms": "Malay", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sr": "Serbian", "sv": "Swedish", "ta": "Tamil", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip

type Vector = np.ndarray
type Embedding = Mapping[str, Vector]


@dataclass(frozen=True)
class Forms:
    """The unit vectors of one language in one corpus, by English label and form (M, F, or N for no other)."""

    vectors: Mapping[tuple[str, str], Vector]

    def get(self, word: str, form: str) -> Vector | None:
        """The form, or the only one that there is."""
        return self.vectors.get((word, form), self.vectors.get((word, "N")))

    @property
    def gendered(self) -> bool:
        """Whether some word has two forms."""
        return any(form != "N" for _, form in self.vectors)

    def of(self, words: Iterable[str], form: str) -> dict[str, Vector]:
        """The form of each word that has one."""
        return {word: vector for word in words if (vector := self.get(word, form)) is not None}


def read_forms(path: Path) -> dict[tuple[str, str], Forms]:
    """By corpus and language."""
    kept = np.load(path)
    vectors = kept["vectors"].astype(float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    forms: dict[tuple[str, str], dict[tuple[str, str], Vector]] = {}
    for corpus, code, word, form, vector in zip(
        *(kept[name].tolist() for name in ("corpus", "language_code", "word", "gender")), vectors, strict=True
    ):
        forms.setdefault((corpus, code), {})[word, form] = vector
    return {at: Forms(words) for at, words in forms.items()}


def agreeing(forms: Forms, *, distinct: bool = False) -> dict[str, Vector]:
    """Both forms of each word, so that dot products are cosines of forms that agree.

    With `distinct`, words of one language that have the same vector count once; those that are both male and female
    are left out.
    """
    male, female = forms.of(MALE, "M"), forms.of(FEMALE, "F")
    if distinct:
        male, female = _once(male), _once(female)
        both = {word for word, v in male.items() for w in female.values() if np.allclose(v, w, atol=1e-5)}
        both |= {word for word, v in female.items() for w in male.values() if np.allclose(v, w, atol=1e-5)}
        male, female = ({word: vector for word, vector in side.items() if word not in both} for side in (male, female))
    attributes = {
        word: np.concatenate([male_form, female_form])
        for word in CAREER.attributes
        if (male_form := forms.get(word, "M")) is not None and (female_form := forms.get(word, "F")) is not None
    }
    return {
        **{word: np.concatenate([vector, np.zeros_like(vector)]) for word, vector in male.items()},
        **{word: np.concatenate([np.zeros_like(vector), vector]) for word, vector in female.items()},
        **attributes,
    }


def _once(words: Embedding) -> dict[str, Vector]:
    """The first word of each vector."""
    first: dict[bytes, str] = {}
    for word, vector in words.items():
        first.setdefault(vector.round(5).tobytes(), word)
    return {word: words[word] for word in first.values()}


def repeated(forms: Forms) -> int:
    """How many male and female words have the vector of another of them."""
    everything = [*forms.of(MALE, "M").values(), *forms.of(FEMALE, "F").values()]
    return len(everything) - len({vector.round(5).tobytes() for vector in everything})


def published_d(forms: Forms) -> float:
    """The effect size as it was published.

    Its denominator is the average of two standard deviations, of the scores of all male and female words with male
    forms, and with female forms of career and family words. In languages without forms that is WEAT's d.
    """
    words = {"M": [*forms.of(MALE, "M").values()], "F": [*forms.of(FEMALE, "F").values()]}

    def score(vector: Vector, form: str) -> float:
        career, family = (
            np.mean([vector @ each for each in forms.of(CAREER.classes[name], form).values()])
            for name in ("career", "family")
        )
        return float(career - family)

    means = [np.mean([score(vector, form) for vector in words[form]]) for form in "MF"]
    spreads = [np.std([score(v, form) for v in words["M"] + words["F"]], ddof=1) for form in "MF"]
    return float((means[0] - means[1]) / np.mean(spreads))


def occupations_of(forms: Forms) -> list[str]:
    """Occupations."""
    return sorted({word for word, _ in forms.vectors} - {*MALE, *FEMALE})


def published_occupation_score(forms: Forms) -> float:
    """Mean over occupations of the absolute difference of two mean cosines: of the female form with female words, and
    of the male form with male words."""
    male, female = (np.mean([*forms.of(words, form).values()], axis=0) for words, form in ((MALE, "M"), (FEMALE, "F")))
    scores = [
        abs(her @ female - his @ male)
        for word in occupations_of(forms)
        if (his := forms.vectors.get((word, "M"))) is not None and (her := forms.vectors.get((word, "F"))) is not None
    ]
    return float(np.mean(scores))


def paired(forms: Forms) -> dict[str, Vector]:
    """Male and female words, and the two forms of each occupation where they differ."""
    found = {**forms.of(MALE, "M"), **forms.of(FEMALE, "F")}
    for word in occupations_of(forms):
        his, hers = forms.vectors.get((word, "M")), forms.vectors.get((word, "F"))
        if his is not None and hers is not None and not np.allclose(his, hers, atol=1e-5):
            found |= {f"{word} (m)": his, f"{word} (f)": hers}
    return found


def pairs_in(embedding: Embedding) -> int:
    """How many occupations have two forms."""
    return sum(word.endswith(" (m)") for word in embedding)


def occupation_list(occupations: Iterable[str]) -> bb.WordList:
    """Male forms against female forms, in pairs."""
    words = list(occupations)
    return bb.wordlist(
        name="occupations",
        groups={"male forms": [f"{word} (m)" for word in words], "female forms": [f"{word} (f)" for word in words]},
        classes={"male": MALE, "female": FEMALE},
        stereotypes={"male forms": "male", "female forms": "female"},
        pairs=[(f"{word} (m)", f"{word} (f)") for word in words],
    )


def read_pleasantness(path: Path) -> dict[str, Embedding]:
    """The words of WEAT 1 and 2, by language."""
    kept = np.load(path)
    codes, words, vectors = kept["wiki_language_code"], kept["target_word"].tolist(), kept["vectors"].astype(float)
    return {
        code: {word: vector for word, vector, at in zip(words, vectors, codes, strict=True) if at == code}
        for code in sorted(set(codes.tolist()))
    }


def read_published(folder: Path) -> pd.DataFrame:
    """The published d of career, by corpus and language."""
    published = pd.read_csv(folder / "career_published_d.csv", index_col="language_code", keep_default_na=True)
    corpora = {"lang_es_wiki": "wiki", "lang_es_sub": "subtitles", "lang_es_wiki_cc": "wiki_cc"}
    return published.rename(columns=corpora)[[*corpora.values()]]
