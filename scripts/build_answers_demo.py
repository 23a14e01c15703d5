"""Build bayes_bias/data/tables/answers-demo.csv.gz from the published replies, whose lists are in answers-demo.toml.

    .venv/bin/python scripts/build_answers_demo.py gpt4o_answers.csv.gz

The argument is a file with the columns answer, category, variation and llm: the files of data/result_gpt4o in
baixuechunzi/llm-implicit-bias (commit 0d2772e), one below the other.
"""

import gzip
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import bayes_bias as bb  # noqa: E402

TABLE = ROOT / "bayes_bias/data/tables/answers-demo.csv.gz"


def main(source: str) -> None:
    """Write the table, and its hash into its provenance."""
    choices = bb.answers.published_answers(source)
    choices = choices.sort_values(["stereotype", "answer", "word"], kind="stable")
    text = choices.to_csv(index=False, lineterminator="\n").encode()
    TABLE.write_bytes(gzip.compress(text, 9, mtime=0))
    told = TABLE.with_name("answers-demo.toml")
    content = re.sub(r"(?m)^rows = .*", f"rows = {len(choices)}", told.read_text(encoding="utf-8"))
    digest = hashlib.sha256(TABLE.read_bytes()).hexdigest()
    told.write_text(re.sub(r"(?m)^sha256 = .*", f'sha256 = "{digest}"', content), encoding="utf-8")
    print(f"{TABLE.name}: {len(choices):,} rows, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
