"""The language of sentences, from frequent words. Pairs in two languages do not belong to one benchmark."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from bayes_bias.errors import SentencePairsError
from bayes_bias.formatting import joined

# Frequent words of a language, none of which is also a frequent word of English.
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "English": "the and of was is are were with that his her they have had not for it you this",
        "French": "les des est une dans qui pour sur elle ils sont avec était pas leur ses et du au",
        "German": "der das und ist nicht ein eine zu mit den von sie sich auf für dem wird einen",
        "Spanish": "el los las y con es su más pero fue muy sus porque ella siempre tiene son del",
        "Catalan": "els les amb és dels seva molt perquè són als aquest aquesta més va seu què",
        "Italian": "il di che della è gli nel sono con alla dei più ha anche loro perché suo sua",
        "Portuguese": "os uma não da em é um com são mais ele ela seus foi muito porque dos sua",
        "Dutch": "het een en niet dat met op zijn voor ze haar hij aan heeft zich ook naar",
        "Swedish": "och är att det som på av för med ett hon inte hade sitt sina ut deras eller också när",
        "Danish": "og er det som på af med et hun ikke til hendes deres blev også eller når hvad være",
        "Polish": "w na z jest się nie że był była jego jej jak który która dla jako bardzo są od przez",
        "Turkish": "ve bir bu için çok daha olan olarak ile ama gibi kadar değil onun ise oldu sonra vardı",
        "Maltese": "u huwa hija kien kienet minn dan lill għal biex jew aktar mhux mill tiegħu tagħha fuq",
    }
)
_FUNCTION_WORDS = MappingProxyType({language: frozenset(words.split()) for language, words in _WORDS.items()})
_WORD = re.compile(r"\w+")
# Languages with letters of their own, by the name of these letters in Unicode. Others are named by their letters.
_SCRIPTS: Mapping[str, str] = MappingProxyType({"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"})
# The smallest number and share of sentences in a language.
_ENOUGH, _SHARE = 5, 0.05


def language_of(sentence: str) -> str:
    """Return the language with most function words in a sentence, or "" if there are fewer than two, or a tie.

    A sentence in other than Latin letters returns the name of the letters.
    """
    if script := _script_of(sentence):
        return script
    counts = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in _WORD.findall(sentence.casefold()):
        for language, function_words in _FUNCTION_WORDS.items():
            counts[language] += word in function_words
    (best, most), (_, second) = Counter(counts).most_common(2)
    return best if most >= 2 and most > second else ""


def _script_of(sentence: str) -> str:
    """Return the letters of a sentence if most of them are not Latin, and "" if they are."""
    names = Counter(unicodedata.name(letter, "LATIN").split()[0] for letter in sentence if letter.isalpha())
    if 2 * names["LATIN"] >= names.total():
        return ""
    language = next((language for script, language in _SCRIPTS.items() if names[script]), "")
    return language or f"{names.most_common(1)[0][0].title()} letters".replace("Cjk letters", "Chinese")


def languages_of(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the languages of sentences, the most frequent first, without languages of a few sentences."""
    texts = list(sentences)
    counts = Counter(filter(None, map(language_of, texts)))
    least = max(_ENOUGH, _SHARE * len(texts))
    return tuple(language for language, count in counts.most_common() if count >= least)


def check_one_language(sentences: Iterable[str]) -> None:
    """Raise an error for sentences in several languages.

    Raises
    ------
    SentencePairsError
    """
    seen = languages_of(sentences)
    if len(seen) > 1:
        raise SentencePairsError(
            f"The sentences in `scores` are in {joined(seen)}, but pairs of several languages are not pooled. Read the"
            " pairs of each language separately."
        )
