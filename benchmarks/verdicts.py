"""Verdicts of WEAT 1 to 10 on two embeddings, before and now: `python -m benchmarks.verdicts`.

What the first edition of the model said (preferences independent of each other, priors in cosines) is kept in
`benchmarks/results/verdicts.json` as it was; what today's says is computed, and what it would say of independent words.
GoogleNews with control classes, GloVe without, since the published subset of its vectors
has none.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

import bayes_bias as bb
from bayes_bias.associations.cosines import CONTROLS
from bayes_bias.table.related_words import Related
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
            independent = related.with_related_words({}, {})
            now, alone = (_said(bb.verdict(bb.fit(each, seed=1))) for each in (related, independent))
            rows.append(
                {
                    **kept,
                    "now": now["numbers"],
                    "verdict now": now["verdict"],
                    "independent": alone["numbers"],
                    "verdict if independent": alone["verdict"],
                    "why": old["why"],
                    "sub-topics": {home: [len(of.words), of.effective] for home, of in _homes(related).items()},
                }
            )
            print(rows[-1], flush=True)
    write("verdicts", provenance(), rows)


def _homes(table: bb.AssociationTable) -> Mapping[str, Related]:
    return table.sub_topics.homes if table.has_related_words else {}


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
priors in units of the table, and under today's; then what it would be if all words were independent draws. GoogleNews
with control classes, GloVe (840B) without, and with no general words to show sub-topics.

{markdown_table(rows.drop(columns=["why", "sub-topics"]))}

{chr(10).join(f"- {row.embedding} {row.list}: {row.why}" for row in rows[rows.why != ""].itertuples())}

That words belong together changes {_changed_by_sub_topics(rows)}
"""


def _changed_by_sub_topics(rows: pd.DataFrame) -> str:
    """A sentence for each verdict that differs."""
    changed = rows[rows["verdict now"] != rows["verdict if independent"]].to_dict("records")
    lines = [
        f"{row['embedding']} {row['list']}: {row['verdict now']} and not {row['verdict if independent']}, since "
        + ", ".join(f"the {n} words of '{home}' count as {count:.0f}" for home, (n, count) in row["sub-topics"].items())
        + "."
        for row in changed
    ]
    return "these verdicts:\n\n" + "\n".join(f"- {line}" for line in lines) if lines else "none of these verdicts."


if __name__ == "__main__":
    main()
