"""Verdicts of WEAT 1 to 10 on two embeddings, before and now: `python -m benchmarks.verdicts`.

What the first edition of the model said (preferences independent of each other, priors in cosines) is kept in
`benchmarks/results/verdicts.json` as it was; what today's says is computed. GoogleNews with control classes, GloVe
without, since the published subset of its vectors has none.
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
            fit = bb.fit(bb.cosines(source, wordlist, controls, allow_loss=True), seed=1)
            found, old = bb.verdict(fit), before[name, wordlist]
            numbers = f"{found.mean:+.3f} [{found.lower:+.3f}, {found.upper:+.3f}]".replace("-", "−")
            now = {"now": numbers, "verdict now": found.label}
            kept = {key: old[key] for key in ("embedding", "list", "before", "verdict before")}
            rows.append({**kept, **now, "why": old["why"]})
            print(rows[-1], flush=True)
    write("verdicts", provenance(), rows)


if __name__ == "__main__":
    main()
