"""Build bayes_bias/data/words/english.txt.gz, by which the package recognises lists of English words.

    python scripts/build_english_words.py glove.6B.50d.txt

The file of GloVe 6B has frequent words first. The first 20,000 are kept if they consist of three letters or more:
shorter ones are words of many languages. The same file gives the same bytes.
"""

import gzip
import sys
from itertools import islice
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "bayes_bias/data/words" / "english.txt.gz"
FREQUENT = 20_000
SHORTEST = 3


def main() -> None:
    """Read the first words of the file, and write those that are kept, sorted."""
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        words = [line.split(" ", 1)[0] for line in islice(lines, FREQUENT)]
    kept = sorted(word for word in words if word.isascii() and word.isalpha() and len(word) >= SHORTEST)
    TARGET.write_bytes(gzip.compress("\n".join(kept).encode(), mtime=0))
    print(f"{len(kept)} words in {TARGET}")


if __name__ == "__main__":
    main()
