"""Verdicts of WEAT 1 to 10 on two embeddings, before and now: `python -m benchmarks.verdicts`.

What the first edition of the model said (preferences independent of each other, priors in cosines) is kept in
`benchmarks/results/verdicts.json` as it was; what today's says is computed, with words as independent draws and with
sub-topics from the vectors. GoogleNews with control classes, GloVe without, since the published subset of its vectors
has none.
"""

import logging
from pathlib import Path

import bayes_bias as bb
from bayes_bias.measuring.vector_tables import CONTROLS
from benchmarks.cells import LISTS
from benchmarks.provenance import provenance, read, write

GLOVE = Path(__file__).parents[1] / "tests" / "reference" / "glove840b_weat_items.npz"
EMBEDDINGS = {"GloVe": (GLOVE, ()), "GoogleNews": ("googlenews-demo", CONTROLS)}


def main() -> None:
    """Fit all and put the new verdicts beside the old."""
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    before = {(row["embedding"], row["list"]): row for row in read("verdicts")["rows"]}
    rows = []
    for name, (source, controls) in EMBEDDINGS.items():
        for wordlist in LISTS:
            old = before[name, wordlist]
            kept = {key: old[key] for key in ("embedding", "list", "before", "verdict before")}
            table = bb.cosines(source, wordlist, controls, allow_loss=True)
            related = bb.cosines(source, wordlist, controls, allow_loss=True, sub_topics="from vectors")
            now, second = (_said(bb.verdict(bb.fit(each, seed=1))) for each in (table, related))
            rows.append(
                {
                    **kept,
                    "now": now["numbers"],
                    "verdict now": now["verdict"],
                    "from vectors": second["numbers"],
                    "verdict from vectors": second["verdict"],
                    "why": old["why"],
                    "sub-topics": {
                        home: [len(of.words), of.effective] for home, of in related.sub_topics.homes.items()
                    },
                }
            )
            print(rows[-1], flush=True)
    write("verdicts", provenance(), rows)


def _said(found: bb.Verdict) -> dict[str, str]:
    numbers = f"{found.mean:+.3f} [{found.lower:+.3f}, {found.upper:+.3f}]".replace("-", "−")
    return {"numbers": numbers, "verdict": found.label}


if __name__ == "__main__":
    main()
