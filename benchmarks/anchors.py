"""How long the same takes elsewhere: `python -m benchmarks.anchors --bambi PYTHON`.

A mixed model of weat6 without control classes: REML by R's lme4, NUTS by bambi, and here. lme4 and bambi fit the
formula of docs/statistics.md with one scale for both groups and classes; the default here has twice as many. `--bambi`
is a Python that has bambi and this package's dependencies. Each fits in a process of its own, several times: the first
time compiles what is compiled, or loads it from disk. Beside them WEFE's WEAT of the same words, with 10,000
permutations.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayes_bias as bb
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write

LIST = "weat6"
PERMUTATIONS, WEFE = 10_000, "wefe==1.0.1"
_SIDES = {"target": "group", "attribute": "attribute_class"}
_WEFE = """
import json, sys, time
import numpy as np
from gensim.models import KeyedVectors
from wefe.metrics import WEAT
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel
given = json.load(open(sys.argv[1]))
vectors = KeyedVectors(300)
vectors.add_vectors(list(given["vectors"]), np.array(list(given["vectors"].values()), dtype=np.float32))
query = Query(given["groups"], given["classes"])
model = WordEmbeddingModel(vectors, "benchmark")
start = time.process_time()
found = WEAT().run_query(query, model, calculate_p_value=True, p_value_iterations=given["permutations"])
print(json.dumps({"seconds": time.process_time() - start, "effect_size": found["effect_size"], "p": found["p_value"]}))
"""
FORMULA = (
    "cosine ~ 0 + group:attribute_class + (1|target) + (1|target:attribute_class) + (1|attribute) + (1|attribute:group)"
)
DRAWS, TUNE, CHAINS = 1000, 500, 4

_LME4 = """
suppressMessages(library(lme4))
given <- commandArgs(trailingOnly = TRUE)
d <- read.csv(given[1])
for (k in 1:as.integer(given[2])) {
  start <- proc.time()
  fit <- suppressMessages(lmer(as.formula(given[3]), d, REML = TRUE))
  took <- proc.time() - start
  cell <- fixef(fit)
  bias <- (cell[1] - cell[2] - cell[3] + cell[4]) / 2
  cat(sprintf('{"processor": %.4f, "wall": %.4f, "bias": %.6f}\\n', took[1] + took[2], took[3], abs(bias)))
}
"""

_BAMBI = """
import json, logging, sys, time
import bambi, pandas as pd
logging.disable(logging.WARNING)
path, runs, formula, draws, tune, chains = sys.argv[1:]
d = pd.read_csv(path)
for _ in range(int(runs)):
    start = time.process_time(), time.perf_counter()
    model = bambi.Model(formula, d)
    drawn = model.fit(draws=int(draws), tune=int(tune), chains=int(chains), cores=1, target_accept=.95, random_seed=1,
                      inference_method="nutpie", progressbar=False)
    took = time.process_time() - start[0], time.perf_counter() - start[1]
    cell = drawn.posterior["group:attribute_class"].mean(("chain", "draw")).to_numpy()
    bias = (cell[0] - cell[1] - cell[2] + cell[3]) / 2
    print(json.dumps({"processor": took[0], "wall": took[1], "bias": abs(float(bias))}))
"""

_OURS = """
import json, logging, sys, time
import bayes_bias as bb
logging.disable(logging.WARNING)
name, runs = sys.argv[1:]
table = bb.cosines(name, "googlenews-demo", controls=())
for _ in range(int(runs)):
    start = time.process_time(), time.perf_counter()
    fit = bb.fit(table)
    took = time.process_time() - start[0], time.perf_counter() - start[1]
    bias = float(fit["posterior"].dataset["mean"].mean(("chain", "draw")).to_numpy() @ [1, -1] @ [1, -1]) / 2
    print(json.dumps({"processor": took[0], "wall": took[1], "bias": abs(bias)}))
"""


def main() -> None:
    """Fit everywhere, one after the other in turns; write the least time of each, that of the first fit beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bambi", default=sys.executable, help="a Python that has bambi")
    parser.add_argument("--runs", type=int, default=3, help="fits in a process")
    parser.add_argument("--turns", type=int, default=2, help="processes of each, interleaved")
    chosen = parser.parse_args()
    runs = str(chosen.runs)
    with tempfile.TemporaryDirectory() as folder:
        cosines = Path(folder) / "cosines.csv"
        table = bb.cosines(LIST, "googlenews-demo", controls=())
        table.to_frame().to_csv(cosines, index=False)
        sampling = map(str, (DRAWS, TUNE, CHAINS))
        commands = {
            "bayes_bias": [sys.executable, "-c", _OURS, LIST, runs],
            "lme4, REML": ["Rscript", "-e", _LME4, str(cosines), runs, FORMULA],
            "bambi": [chosen.bambi, "-c", _BAMBI, str(cosines), runs, FORMULA, *sampling],
        }
        found: dict[str, list[list[dict[str, Any]]]] = {}
        for _ in range(chosen.turns):
            for name, command in commands.items():
                found.setdefault(name, []).append(_answers(command))
                print(name, found[name][-1], flush=True)
    weat = wefe(table, WEFE, PERMUTATIONS)
    print(weat, flush=True)
    rows = [_row(name, processes) for name, processes in found.items()]
    rows.append({"what": weat["what"], "further, processor": weat["seconds"]})
    write("anchors", provenance() | {"list": LIST, "formula": FORMULA, "runs": chosen.runs}, rows)


def _answers(command: list[str]) -> list[dict[str, Any]]:
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def _row(name: str, processes: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The least times of a first and of further fits."""
    kinds = ["processor", "wall"]
    first = pd.DataFrame([fits[0] for fits in processes])[kinds].min()
    further = pd.concat([pd.DataFrame(fits[1:]) for fits in processes])[kinds].min()
    times = first.add_prefix("first, ").to_dict() | further.add_prefix("further, ").to_dict()
    return {"what": name, "bias": processes[0][-1]["bias"], **times}


def section() -> str:
    """Render the times that other programs take."""
    result = read("anchors")
    about, rows = result["about"], pd.DataFrame(result["rows"]).set_index("what")
    times = rows[["first, processor", "further, processor"]].set_axis(["first", "further"], axis="columns")
    shown = times.assign(**{"further, to ours": times.further / times.further["bayes_bias"]}, bias=rows.bias)
    return f"""### Other programs

Seconds of processor time of a mixed model of {about["list"]}, for the first call in a process, with compiled code on
disk, and the least of further calls: REML by lme4 1.1.31, bambi 0.21 with the same draws and nutpie, and the default
model of this package, whose groups and classes have separate scales. REML returns one value of each scale, the others a
posterior. The time of WEFE is for a WEAT of the same words with 10,000 permutations. lme4 and bambi fit

`{about["formula"]}`

{markdown_table(shown.reset_index())}

{circumstances(about)}
"""


def wefe(table: bb.AssociationTable, requirement: str, permutations: int) -> dict[str, object]:
    """WEFE in a process and an environment of its own; its time for so many permutations, scaled to ours."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", requirement, "numpy<2"], check=True)
        given = Path(folder) / "given.json"
        query = {
            "groups": _words(table, "target", table.groups),
            "classes": _words(table, "attribute", table.associated_classes),
        }
        words = [*table.values.target.to_numpy().tolist(), *table.values.attribute.to_numpy().tolist()]
        vectors = {word: np.asarray(table.vectors[word]).tolist() for word in words}
        given.write_text(json.dumps({**query, "vectors": vectors, "permutations": permutations}))
        done = subprocess.run([python, "-c", _WEFE, given], check=True, capture_output=True, text=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    scaled = measured["seconds"] * PERMUTATIONS / permutations
    return measured | {"what": "WEFE 1.0.1", "seconds": scaled, "permutations_run": permutations, "runs": 1}


def _words(table: bb.AssociationTable, side: str, names: tuple[str, ...]) -> list[list[str]]:
    y = table.values
    labels = y[_SIDES[side]].to_numpy()
    return [y[side].to_numpy()[labels == name].tolist() for name in names]


if __name__ == "__main__":
    main()
