"""Small embeddings trained on the text of this machine: `python -m benchmarks.trained`.

English manual pages, stripped of their markup, are text of another kind than GoogleNews, and models of 50 and 300
dimensions are smaller. word2vec twice, by two seeds, since nothing changed between those; fastText once. Vectors go
to `benchmarks/records` (not under version control), what they were trained on to `benchmarks/results/trained.json`.
With `--seeds 5` word2vec of 50 dimensions by so many seeds instead, the replicates of `benchmarks.replicates`.
"""

import argparse
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from gensim.models import FastText, Word2Vec

from benchmarks.provenance import provenance, write

PAGES = Path("/usr/share/man")
FOLDER = Path(__file__).parent / "records"
DIMENSIONS = (50, 300)
MODELS = {
    "word2vec-{}-manual": (Word2Vec, 1),
    "word2vec-{}-manual-again": (Word2Vec, 2),
    "fasttext-{}-manual": (FastText, 1),
}
SEED = "word2vec-50-manual-seed-{}"
_MOST_WORDS = 4_000_000
_MARKUP = re.compile(r'^[.\'\\].*$|\\f\(?[A-Z]{1,2}|\\[&|^-]|\\\*\(..|\\\(..|\\\S"?', re.MULTILINE)
_WORD = re.compile(r"[a-z]{2,}")


def main() -> None:
    """Train all models, or the seeds of one, and keep their vectors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=0)
    seeds = parser.parse_args().seeds
    wanted = [
        (name.format(dimensions), model, dimensions, seed)
        for name, (model, seed) in MODELS.items()
        for dimensions in DIMENSIONS
    ]
    if seeds:
        wanted = [(SEED.format(seed), Word2Vec, DIMENSIONS[0], seed) for seed in range(1, seeds + 1)]
    sentences, about = corpus()
    print(about)
    rows = []
    for label, model, dimensions, seed in wanted:
        rows.append({"model": label, **_train(label, model, dimensions, seed, sentences)})
        print(rows[-1], flush=True)
    write("trained-seeds" if seeds else "trained", provenance() | about, rows)


def _train(
    label: str, model: type[Word2Vec | FastText], dimensions: int, seed: int, sentences: list[list[str]]
) -> dict[str, float]:
    start = perf_counter()
    trained = model(
        sentences,
        vector_size=dimensions,
        window=5,
        min_count=20,
        sg=1,
        epochs=3,
        seed=seed,
        workers=2,
        **({"bucket": 100_000} if model is FastText else {}),
    ).wv
    FOLDER.mkdir(exist_ok=True)
    np.savez(FOLDER / f"{label}.npz", words=np.array(trained.index_to_key), vectors=trained.vectors.astype(np.float32))
    return {"words": len(trained.index_to_key), "seconds": perf_counter() - start}


def corpus() -> tuple[list[list[str]], dict[str, object]]:
    """Lines of prose of manual pages, the pages in random order, and what they are."""
    pages = sorted(PAGES.glob("man[1-9]/*.gz"))
    order = np.random.default_rng(1).permutation(len(pages))
    sentences: list[list[str]] = []
    seen: set[str] = set()
    read, words = 0, 0
    for index in order:
        if words > _MOST_WORDS:
            break
        read += 1
        for line in _paragraphs(pages[index]):
            if len(line) > 4 and (key := " ".join(line)) not in seen:  # licences and the like are everywhere
                seen.add(key)
                sentences.append(line)
                words += len(line)
    return sentences, {"text": "English manual pages of a Debian system", "pages": read, "words": words}


def _paragraphs(page: Path) -> Iterator[list[str]]:
    text = gzip.decompress(page.read_bytes()).decode("utf-8", "replace")
    for paragraph in re.split(r"\n\.(?:PP|P|IP|TP|SH|Sp|sp|LP|Pp)\b.*", text):
        plain = _MARKUP.sub(" ", paragraph).lower()
        yield _WORD.findall(plain)


if __name__ == "__main__":
    main()
