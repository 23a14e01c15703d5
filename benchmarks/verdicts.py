"""Verdicts of WEAT 1 to 10 on two embeddings, before and now: `python -m benchmarks.verdicts`.

The verdicts of the first edition of the model (preferences independent of each other, priors in cosines) are kept in
`benchmarks/results/verdicts.json` as they were; those of today's model are computed, with related words and as if words
were independent. GoogleNews with control classes, GloVe without, since the published subset of its vectors has none.
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
            related = bb.cosines(wordlist, source, controls, allow_loss=True)
            independent = bb.cosines(wordlist, source, controls, sub_topics="independent", allow_loss=True)
            now, alone = (_said(bb.verdict(each)) for each in (related, independent))
            homes = related.related_words.homes if related.has_related_words else {}
            rows.append(
                {
                    **kept,
                    "now": now["numbers"],
                    "verdict now": now["verdict"],
                    "independent": alone["numbers"],
                    "verdict if independent": alone["verdict"],
                    "why": old["why"],
                    "effective": {home: [len(of.words), of.effective] for home, of in homes.items()},
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
priors in units of the table, and under today's; then as if all words were independent draws. GoogleNews with control
classes, GloVe (840B) without, and with no general words that could show related ones.

{markdown_table(rows.drop(columns=["why", "effective"]))}

{chr(10).join(f"- {row.embedding} {row.list}: {row.why}" for row in rows[rows.why != ""].itertuples())}

Related words change {_changed_by_related_words(rows)}
"""


def _changed_by_related_words(rows: pd.DataFrame) -> str:
    """A sentence for each verdict that differs."""
    changed = rows[rows["verdict now"] != rows["verdict if independent"]].to_dict("records")
    lines = [
        f"{row['embedding']} {row['list']}: {row['verdict now']} instead of {row['verdict if independent']}, because "
        + ", ".join(
            f"the effective number of the {n} words of '{home}' is {count:.0f}"
            for home, (n, count) in row["effective"].items()
            if round(count) < n
        )
        + "."
        for row in changed
    ]
    return "these verdicts:\n\n" + "\n".join(f"- {line}" for line in lines) if lines else "none of these verdicts."


if __name__ == "__main__":
    main()
