"""Verdicts of WEAT 1 to 10 on two embeddings, before and now: `python -m benchmarks.verdicts`.

What the first edition of the model said (preferences independent of each other, priors in cosines) is kept in
`benchmarks/results/verdicts.json` as it was; what today's says is computed, with words as independent draws and with
sub-topics from the vectors. GoogleNews with control classes, GloVe without, since the published subset of its vectors
has none.
"""

import logging
from pathlib import Path

import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from benchmarks.cells import LISTS
from benchmarks.markdown import markdown_table
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


def answer() -> str:
    """Count the lists whose bias is distinguishable from noise."""
    rows = pd.DataFrame(read("verdicts")["rows"])
    found = (rows["verdict now"] == "distinguishable").groupby(rows.embedding).agg(["sum", "size"])
    counts = ", ".join(f"{row['sum']} of {row['size']} in {name}" for name, row in found.iterrows())
    return f"Distinguishable from noise: {counts}."


def section() -> str:
    """Render the ten lists under the first edition of the model and under today's."""
    result = read("verdicts")
    rows = pd.DataFrame(result["rows"])
    return f"""## WEAT 1 to 10, before and now

The posterior bias (half of WEAT's numerator) and its verdict under the model before preferences were contrasts and
priors in units of the table, and under today's; then, as a second interval, with `sub_topics="from vectors"`.
GoogleNews with control classes, GloVe (840B) without.

{markdown_table(rows.drop(columns=["why", "sub-topics"]))}

{chr(10).join(f"- {row.embedding} {row.list}: {row.why}" for row in rows[rows.why != ""].itertuples())}

Where sub-topics from the vectors change the verdict:

{chr(10).join(f"- {line}" for line in _changed_by_sub_topics(rows))}
"""


def _changed_by_sub_topics(rows: pd.DataFrame) -> list[str]:
    """A sentence for each verdict that differs."""
    changed = rows[rows["verdict now"] != rows["verdict from vectors"]].to_dict("records")
    return [
        f"{row['embedding']} {row['list']}: {row['verdict from vectors']} and no longer {row['verdict now']}, since "
        + ", ".join(f"the {n} words of '{home}' count as {count:.0f}" for home, (n, count) in row["sub-topics"].items())
        + "."
        for row in changed
    ]


if __name__ == "__main__":
    main()
