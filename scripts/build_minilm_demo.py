"""Build bayes_bias/data/vectors/minilm-demo.npz and its provenance from sentence vectors of all-MiniLM-L6-v2.

    python scripts/build_minilm_demo.py FILE GENERAL

FILE is an .npz with `words` (n,), `templates` (10,), `vectors` (10, n, 384): those of whole sentences, each word in
each template, by sentence-transformers 6.2 with mean pooling over tokens. GENERAL is one with the `words` and `vectors`
(m, 384) of general words in the first template, by the same weights. Nothing is computed anew.
"""

import hashlib
import sys
import textwrap
from pathlib import Path

import numpy as np

from bayes_bias.words.wordlist import load_wordlist

TARGET = Path(__file__).resolve().parent.parent / "bayes_bias/data/vectors" / "minilm-demo.npz"
LISTS = ("weat1", "weat6", "weat7", "weat9", "gender")


def main(source: Path, general: Path) -> None:
    """Take the words, write archive and provenance."""
    lists = [load_wordlist(name) for name in LISTS]
    listed = dict.fromkeys(word for each in lists for word in (*each.targets, *each.attributes))
    with np.load(source) as archive:
        position = {word: k for k, word in enumerate(archive["words"].tolist())}
        found = [word for word in listed if word in position]
        vectors, templates = archive["vectors"][:, [position[word] for word in found]], archive["templates"]
    with np.load(general) as archive:
        more = {f"general_{name}": archive[name] for name in ("words", "vectors")}
    more["general_vectors"] = more["general_vectors"].astype(np.float16)
    np.savez_compressed(TARGET, words=np.array(found), templates=templates, vectors=vectors.astype(np.float16), **more)
    missing = [word for word in listed if word not in position]
    TARGET.with_suffix(".toml").write_text(provenance(templates.tolist(), found, missing), encoding="utf-8")
    print(
        f"{TARGET.name}: {len(found)} words, {TARGET.stat().st_size:,} bytes; missing: {', '.join(missing) or 'none'}"
    )


def provenance(templates: list[str], found: list[str], missing: list[str]) -> str:
    """What the file is, where it comes from and under which licence."""
    return textwrap.dedent(f"""\
        # Written by scripts/build_minilm_demo.py; do not edit.
        title = "Sentence vectors of the words of five lists in ten templates, by all-MiniLM-L6-v2"
        description = \"\"\"
        For trying replicates without a download. In minilm-demo.npz: `words`, `templates` and `vectors` (templates x
        words x dimensions, float16, unit length), each that of a whole sentence: the word in the template. There are
        no controls in it, and random words are those of the other lists. `general_words` are other words, with their
        vectors in the first template, which show what words have in common by chance.\"\"\"
        words = {len(found)}
        dimensions = 384
        lists = {list(LISTS)!r}
        templates = {templates!r}
        missing = {missing!r}
        sha256 = "{hashlib.sha256(TARGET.read_bytes()).hexdigest()}"
        citation = \"\"\"
        Reimers, N., & Gurevych, I. (2019). Sentence-BERT: Sentence embeddings using Siamese BERT-networks. \\
        Proceedings of EMNLP-IJCNLP 2019, 3982-3992.\"\"\"

        [[sources]]
        model = "sentence-transformers/all-MiniLM-L6-v2"
        licence = "Apache-2.0"
        software = "sentence-transformers 6.2, mean pooling over tokens, vectors at unit length"
        """)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
