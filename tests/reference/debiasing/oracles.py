"""Debiased vectors by the programs of the methods' authors: `python oracles.py CHECKOUTS`, below whose folder they are.

Needs `concept-erasure`, `wefe` (with torch), `cvxpy` and checkouts of the repositories in `README.md`. Their functions
are run from there; none of their code is here.
"""

import ast
import json
import subprocess
import sys
from itertools import chain
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np

CHECKOUTS = Path(sys.argv[1])
PAIRS = [("she", "he"), ("woman", "man"), ("girl", "boy"), ("mother", "father")]
DEFINING = list(chain(*PAIRS))
TWO_GROUPS = list(zip(*PAIRS, strict=True))
GROUPS = [
    ["she", "woman", "girl", "mother", "w0", "w1"],
    ["he", "man", "boy", "father", "w2", "w3"],
    ["w4", "w5", "w6"],
]
TRIPLES = [("she", "he", "w0"), ("woman", "man", "w1"), ("girl", "boy", "w2")]
INDEPENDENT = [f"w{i}" for i in range(10, 20)]


def vectors():
    """Words of 8 dimensions, about a mean, with a gender direction that half of the neutral words lean along."""
    rng = np.random.default_rng(33)
    neutral = [f"w{i}" for i in range(40)]
    words = [*DEFINING, *neutral]
    rows = rng.normal(size=(len(words), 8)) + 0.5
    gender = rng.normal(size=8)
    for number, (first, second) in enumerate(PAIRS):
        rows[words.index(second)] = rows[words.index(first)] + 0.4 * rng.normal(size=8) - gender * (1 + 0.1 * number)
    rows[len(words) - 40 :] += np.outer(rng.normal(size=40), gender) * 0.6
    return dict(zip(words, rows, strict=True))


def source(repository, path):
    show = ["git", "--git-dir", str(CHECKOUTS / repository), "show", f"HEAD:{path}"]
    return subprocess.run(show, capture_output=True, text=True, check=True).stdout.expandtabs(4)


def functions(text, names, **known):
    """Functions and methods of a file, without their decorators and without running the rest of it."""
    body = ast.parse(text).body
    body += [node for part in body if isinstance(part, ast.ClassDef) for node in part.body]
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            node.decorator_list = []
            exec(compile(ast.Module([node], []), node.name, "exec"), known)
    return known


def cells(notebook):
    """The code of a notebook."""
    code = (cell["source"] for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code")
    return "\n".join("".join(lines) for lines in code).replace("%", "# %")


def stacked(debiased, words):
    return np.stack([debiased[word] for word in words])


def with_labels(given, groups):
    """The vectors of all groups, and the position of each one's group."""
    return stacked(given, chain(*groups)), np.repeat(np.arange(len(groups)), list(map(len, groups)))


def main():
    import scipy.linalg
    import torch
    from concept_erasure import LeaceFitter
    from gensim.models import KeyedVectors
    from sklearn.decomposition import PCA
    from sklearn.svm import LinearSVC
    from tqdm import tqdm
    from wefe.debias.half_sibling_regression import HalfSiblingRegression
    from wefe.word_embedding_model import WordEmbeddingModel

    given = vectors()
    words, rows = list(given), np.stack(list(given.values()))
    neutral = [word for word in words if word not in DEFINING]
    pca, results = {"np": np, "PCA": PCA}, {"words": np.array(words), "vectors": rows}

    unit = {word: row / np.linalg.norm(row) for word, row in given.items()}
    utils = functions(source("uvavision+Double-Hard-Debias/repo", "utils.py"), {"doPCA", "drop"}, **pca)
    index = {word: i for i, word in enumerate(words)}
    gender = utils["doPCA"](list(map(list, PAIRS)), np.stack(list(unit.values())), index).components_[0]

    project = functions(
        source("sunipa+Attenuating-Bias-in-Word-Vec/repo/.git", "linProjection.py"), {"projection"}, np=np
    )
    results["linear-projection"] = np.stack([project["projection"](row, gender) for row in rows])

    results |= {"hard": hard(unit), "hard-3": multiclass_hard(unit)}

    model = KeyedVectors(8, dtype=np.float64)
    model.add_vectors(words, rows)
    hsr = HalfSiblingRegression().fit(WordEmbeddingModel(model, "oracle"), definitional_words=DEFINING, alpha=5.0)
    results["half-sibling"] = stacked(hsr.transform(WordEmbeddingModel(model, "oracle")), words)

    conceptor = functions(
        source("jsedoc+ConceptorDebias/repo", "Conceptors/conceptor_fxns.py"), {"train_Conceptor", "NOT"}, np=np
    )
    taught, _ = conceptor["train_Conceptor"](stacked(given, DEFINING).T, 2)
    results["conceptor"] = (conceptor["NOT"](taught) @ rows.T).T

    classifier = ModuleType("classifier")
    exec(source("shauli-ravfogel+nullspace_projection/repo", "src/classifier.py"), vars(classifier))
    names = {"get_rowspace_projection", "get_projection_to_intersection_of_nullspaces", "get_debiasing_projection"}
    known = {"np": np, "scipy": scipy, "List": list, "Dict": dict, "tqdm": tqdm, "classifier": classifier}
    inlp = functions(source("shauli-ravfogel+nullspace_projection/repo", "src/debias.py"), names, **known)
    for name, groups, count in (("inlp", TWO_GROUPS, 3), ("inlp-3", GROUPS, 2)):
        x, y = with_labels(given, groups)
        settings = {"fit_intercept": False, "class_weight": None, "dual": False, "random_state": 0}
        x *= 1 + 1e-6  # the program multiplies by 1 / (1 + 1e-6), the scale of a dropout of zero
        p, *_ = inlp["get_debiasing_projection"](LinearSVC, settings, count, 8, True, 0, x, y, x, y)
        results[name] = rows @ p.T

    designs = (("leace", TWO_GROUPS, False), ("leace-shrunk", GROUPS[:2], True), ("leace-3", GROUPS, True))
    for name, groups, shrinkage in designs:
        x, y = map(torch.tensor, with_labels(given, groups))
        z = torch.nn.functional.one_hot(y).double()
        fitter = LeaceFitter(8, len(groups), dtype=torch.float64, shrinkage=shrinkage).update(x, z)
        results[name] = fitter.eraser(torch.tensor(rows)).numpy()

    verb = functions(source("tdavislab+verb/repo", "vectors.py"), {"rotation", "proj"}, np=np)
    concept = PCA(1).fit(stacked(given, INDEPENDENT)).components_[0]
    concept = concept if concept @ gender >= 0 else -concept
    across = concept - verb["proj"](gender, concept)
    plane = np.stack([gender, across / np.linalg.norm(across)])
    turned = np.stack([verb["rotation"](plane @ gender, plane @ concept, row) for row in rows @ plane.T])
    results["oscar"] = rows + (turned - rows @ plane.T) @ plane

    code = cells(source("uvavision+Double-Hard-Debias/repo", "GloVe_Debias.ipynb"))
    notebook = functions(code, {"my_pca", "hard_debias"}, definitional_pairs=list(map(list, PAIRS)), **utils)
    notebook["main_pca"], notebook["wv_mean"] = notebook["my_pca"](rows), rows.mean(axis=0)
    for component in range(3):
        debiased = notebook["hard_debias"](rows, index, index, words, [component])
        results[f"double-hard-{component}"] = debiased[[index[word] for word in neutral]]

    ran = functions(
        source("TimeTraveller-San+RAN-Debias/repo", "src/RANDebias.py"),
        {"torch_cosine_similarity", "ran_objective"},
        torch=torch,
    )
    idb = functions(source("TimeTraveller-San+RAN-Debias/repo", "src/make_neighbours.py"), {"get_pair_idb"}, np=np)
    points = np.random.default_rng(1).normal(size=(40, 8))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    least, at_points = [], []
    for word in neutral:
        near = sorted(set(words) - {word}, key=lambda neighbour: -unit[neighbour] @ unit[word])[:10]
        repelled = []
        for neighbour in near:
            if idb["get_pair_idb"](unit[neighbour], unit[word], gender) >= 0.05:
                repelled.append(unit[neighbour])
        given = torch.tensor(unit[word])[None], torch.tensor(np.array(repelled)) if repelled else False
        given += torch.tensor(gender), (1 / 8, 6 / 8, 1 / 8)
        at_points.append(float(ran["ran_objective"](torch.tensor(points[len(least)]), *given)))
        least.append(minimised(torch, ran["ran_objective"], given))
    results |= {"ran": np.array(least), "ran-points": points, "ran-at-points": np.array(at_points)}
    results["soft"] = soft(np.stack(list(unit.values())), np.array([word in neutral for word in words]), gender)
    np.savez_compressed(Path(__file__).with_name("oracles.npz"), **results)


def hard(unit):
    """Neutralised and equalised by the program of Bolukbasi et al."""
    from sklearn.decomposition import PCA

    def normalize():
        program.vecs /= np.linalg.norm(program.vecs, axis=1, keepdims=True)

    program = SimpleNamespace(words=list(unit), vecs=np.stack(list(unit.values())), normalize=normalize)
    program.index = {word: i for i, word in enumerate(unit)}
    program.v = lambda word: program.vecs[program.index[word]]
    text = source("tolga-b+debiaswe/repo", "debiaswe/we.py")
    we = functions(text, {"doPCA", "drop"}, np=np, PCA=lambda n_components: PCA(min(n_components, 8)))
    known = {"we": SimpleNamespace(**we), "np": np, "print": lambda *_: None}
    functions(source("tolga-b+debiaswe/repo", "debiaswe/debias.py"), {"debias"}, **known)["debias"](
        program, DEFINING, PAIRS, PAIRS
    )
    return program.vecs


def multiclass_hard(unit):
    """Neutralised and equalised in two dimensions by the program of Manzini et al."""
    from sklearn.decomposition import PCA

    names = {"normalize", "identify_bias_subspace", "project_onto_subspace", "neutralize_and_equalize"}
    text = source("TManzini+DebiasMulticlassWordEmbedding/repo/.git", "Debiasing/biasOps.py")
    program = functions(text, names, np=np, PCA=PCA)
    subspace = program["identify_bias_subspace"](unit, dict(enumerate(TRIPLES)), 2, 8)
    in_triples = set(chain(*TRIPLES))
    neutral = [word for word in unit if word not in in_triples]
    return stacked(program["neutralize_and_equalize"](unit, neutral, TRIPLES, subspace, 8), unit)


def soft(rows, neutral, gender, strength=3.0):
    """Soft debiasing by a solver for semidefinite programs, which is given the paper's problem as it stands."""
    import cvxpy as cp

    _, sizes, axes = np.linalg.svd(rows, full_matrices=False)
    products, x = sizes[:, None] * axes, cp.Variable((8, 8), PSD=True)
    kept, left = products @ (x - np.eye(8)) @ products.T, rows[neutral] @ x @ gender
    problem = cp.Problem(cp.Minimize(cp.sum_squares(kept) + strength * cp.sum_squares(left)))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-14, tol_gap_rel=1e-14, tol_feas=1e-14)
    sizes, axes = np.linalg.eigh(x.value)
    after = rows @ (axes * np.sqrt(sizes)) @ axes.T
    return after / np.linalg.norm(after, axis=1, keepdims=True)


def minimised(torch, objective, given):
    """The least value of the authors' objective over vectors of length one that ever smaller steps come to."""
    x = given[0][0].clone().requires_grad_()
    optimizer = torch.optim.Adam([x], lr=1e-2)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.995)
    best = np.inf
    for _ in range(1500):
        optimizer.zero_grad()
        value = objective(x / x.norm(), *given)
        value.backward()
        optimizer.step()
        schedule.step()
        best = min(best, value.item())
    return best


if __name__ == "__main__":
    main()
