"""Every cell, all languages together, and languages as replicates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import pearsonr

import bayes_bias as bb
from studies.auditing import SEED, audit, swept
from studies.languages import data
from studies.study import Results

FILES = tuple(
    f"languages/{name}"
    for name in (
        "career.npz",
        "career_published_d.csv",
        "iat_by_language.csv",
        "occupations.npz",
        "occupations_published.csv",
        "pleasantness.npz",
    )
)
WEAT = ("weat1", "weat2")
# The standard deviation of cosines within a block is .06 and more in most corpora, and .001 in Japanese Wikipedia.
LEAST_SPREAD = 0.03


def compute(folder: Path, kept: Path, jobs: int) -> Results:
    """Career and gender, occupations, flowers and instruments: each language, and all of them together."""
    home = folder / "languages"
    career, occupations = (data.read_forms(home / f"{name}.npz") for name in ("career", "occupations"))
    iat = pd.read_csv(home / "iat_by_language.csv").set_index("wiki_language_code")
    found = [
        _career(career, data.read_published(home), iat, kept / "career", jobs),
        _occupations(occupations, home, kept / "occupations", jobs),
        _pleasantness(data.read_pleasantness(home / "pleasantness.npz"), kept / "pleasantness", jobs),
    ]
    results = {name: table for results in found for name, table in results.items() if name not in _TOGETHER}
    results |= {name: pd.concat([results[name] for results in found if name in results]) for name in _TOGETHER}
    return results | {"correlations": _correlations(results["career"], iat[data.IAT])}


# Tables with rows of every part.
_TOGETHER = ("pooled", "replicates", "missing")


def _career(
    forms: Mapping[tuple[str, str], data.Forms], published: pd.DataFrame, iat: pd.DataFrame, kept: Path, jobs: int
) -> Results:
    parts, pooled, replicates, missing, criteria = [], [], [], [], []
    for corpus in data.CORPORA:
        of = {code: each for (where, code), each in forms.items() if where == corpus}
        vectors = {code: data.agreeing(each) for code, each in of.items()}
        found, cells = audit(vectors, [data.CAREER], kept, jobs, "dot")
        cells = cells.droplevel("list").assign(
            gendered={code: each.gendered for code, each in of.items()},
            repeated={code: data.repeated(each) for code, each in of.items()},
            d=cells.weat_d.droplevel("list"),
            d_as_published={code: data.published_d(each) for code, each in of.items()},
            d_published=published[corpus] if corpus in published else float("nan"),
        )
        once = {code: data.agreeing(each, distinct=True) for code, each in of.items()}
        distinct = swept(once, [data.CAREER], kept, jobs, "dot", posteriors="none").screening.droplevel("list")
        cells["distinct_bias"], cells["distinct_quasi_f_p"] = distinct["bias"], distinct["chance"]
        parts.append(_named(cells.drop(columns=["weat_d"]), corpus))
        criteria.append(_with_iat(_told_apart(found, vectors, kept, jobs), iat, corpus))
        complete = {code: words for code, words in vectors.items() if words.keys() >= {*_WORDS}}
        pooled.append(_pooled(swept(complete, [data.CAREER], kept, jobs, "dot"), f"career, {corpus}"))
        replicates.append(_replicates(complete, data.CAREER, f"career, {corpus}", "dot"))
        missing.append(_missing(found, f"career, {corpus}"))
    return {
        "career": pd.concat(parts),
        "pooled": pd.concat(pooled),
        "replicates": pd.concat(replicates),
        "missing": pd.concat(missing),
        "criterion": pd.concat(criteria),
    }


def _correlations(career: pd.DataFrame, iat: "pd.Series[float]") -> pd.DataFrame:
    """Of d and of biases with people's implicit association, as if both were known exactly, as in the original."""
    rows = []
    for corpus in data.CORPORA:
        cells = career.loc[corpus].rename(index=data.TOGETHER).drop(index=data.LEFT_OUT, errors="ignore")
        both = cells[["d_as_published", "bias"]].groupby(level=0).mean().join(iat, how="inner").dropna()
        for of in ("d_as_published", "bias"):
            found = pearsonr(both[of], both[data.IAT])
            low, high = found.confidence_interval()
            rows.append(
                {"corpus": corpus, "of": of, "languages": len(both), "r": found.statistic, "lb": low, "ub": high}
            )
    return pd.DataFrame(rows).set_index(["corpus", "of"])


def _with_iat(found: bb.Sweep, iat: pd.DataFrame, corpus: str) -> pd.DataFrame:
    """Do biases go with people's implicit association, errors in both, and at equal median age as well?"""
    people = iat[~iat.index.isin(data.LEFT_OUT)].rename_axis(index="label").reset_index()
    columns = {data.IAT: "criterion", "n_participants": "criterion_n", data.AGE: "age"}
    outside = people[["label", *columns]].rename(columns=columns).assign(criterion_sd=data.SD_OF_IAT)
    rows = {}
    for covariates in ((), ("age",)):
        validity = bb.criterion(found, outside, covariates=covariates, criterion_name="implicit association", seed=SEED)
        rows[corpus, ", ".join(covariates)] = validity.summary().assign(languages=len(validity.table))
    return pd.concat(rows, names=["corpus", "at_equal"])


_WORDS = (*data.CAREER.targets, *data.CAREER.attributes)


def _occupations(forms: Mapping[tuple[str, str], data.Forms], home: Path, kept: Path, jobs: int) -> Results:
    published = pd.read_csv(home / "occupations_published.csv", index_col="language_code").rename(
        columns={"wiki_gender_diff_score_fm_abs": "wiki", "subt_gender_diff_score_fm_abs": "subtitles"}
    )
    parts, scores, pooled, missing = [], [], [], []
    for corpus in ("wiki", "subtitles", "wiki_native"):
        of = {code: each for (where, code), each in forms.items() if where == corpus}
        vectors = {code: data.paired(each) for code, each in of.items()}
        vectors = {code: words for code, words in vectors.items() if data.pairs_in(words) >= data.LEAST_PAIRS}
        words = data.occupation_list(sorted({word for each in of.values() for word in data.occupations_of(each)}))
        found, cells = audit(vectors, [words], kept, jobs)
        parts.append(_named(cells.droplevel("list"), corpus))
        pooled.append(_pooled(found, f"occupations, {corpus}"))
        missing.append(_missing(found, f"occupations, {corpus}"))
        score = pd.DataFrame({"recomputed": {code: data.published_occupation_score(each) for code, each in of.items()}})
        score["published"] = published[corpus] if corpus in published else float("nan")
        score["pairs"] = {code: data.pairs_in(data.paired(each)) for code, each in of.items()}
        scores.append(_named(score, corpus))
    return {
        "occupations": pd.concat(parts),
        "occupation_scores": pd.concat(scores),
        "pooled": pd.concat(pooled),
        "missing": pd.concat(missing),
    }


def _pleasantness(vectors: Mapping[str, data.Embedding], kept: Path, jobs: int) -> Results:
    found, cells = audit(vectors, [*WEAT], kept, jobs)
    cells.insert(0, "language", cells.index.get_level_values("embedding").map(data.NAMES))
    replicates = []
    for name in WEAT:
        words = bb.load_wordlist(name)
        most = {
            code: each for code, each in vectors.items() if len(set(words.targets + words.attributes) & set(each)) > 90
        }
        replicates.append(_replicates(most, words, f"{name}, wiki", "cosine"))
    return {
        "pleasantness": cells.rename_axis(index={"embedding": "code"}),
        "pooled": _pooled(found, "flowers and instruments, wiki"),
        "replicates": pd.concat(replicates),
        "missing": _missing(found, "flowers and instruments, wiki"),
    }


def _named(cells: pd.DataFrame, corpus: str) -> pd.DataFrame:
    """With corpus, code and name of the language."""
    cells = cells.rename_axis(index="code").reset_index()
    cells.insert(0, "corpus", corpus)
    cells.insert(2, "language", cells["code"].map(data.NAMES))
    return cells.set_index(["corpus", "code"])


def _told_apart(found: bb.Sweep, vectors: Mapping[str, data.Embedding], kept: Path, jobs: int) -> bb.Sweep:
    """The sweep without languages whose vectors are all alike: nearly equal biases of nearly no spread would decide."""
    spread = found.cells["within_sd"].droplevel("list")
    words = {code: each for code, each in vectors.items() if spread[code] >= LEAST_SPREAD}
    return found if len(words) == len(vectors) else swept(words, [data.CAREER], kept, jobs, "dot")


def _pooled(found: bb.Sweep, part: str) -> pd.DataFrame:
    """All languages together: the mean bias, how languages differ, and the error that they share."""
    effects = found.pooled.effects.assign(shared_error=found.pooled.lists["shared_error"].mean())
    return effects.rename_axis(index="effect").assign(part=part, languages=len(found.pooled.embeddings))


def _missing(found: bb.Sweep, part: str) -> pd.DataFrame:
    return found.failures.assign(part=part).set_index("part")


def _replicates(vectors: Mapping[str, Any], words: bb.WordList, part: str, similarity: str) -> pd.DataFrame:
    """Languages as replicates of one list, over the words that all of them have."""
    tables = {code: bb.similarities(words, each, (), similarity=similarity) for code, each in vectors.items()}
    table = bb.combine_replicates(tables, kind="language")
    fit = bb.fit(table, seed=SEED)
    said, rows = bb.verdict(fit), bb.summarize(fit)
    differ = rows.loc["replicate_sd"].iloc[0]
    record = {
        "languages": len(tables),
        "targets": table.values.sizes["target"],
        "attributes": table.values.sizes["attribute"],
        "bias": said.mean,
        "lb": said.lower,
        "ub": said.upper,
        "chance": said.chance,
        "verdict": said.label,
        "replicate_sd": differ["mean"],
        "replicate_sd_lb": differ["eti95_lb"],
        "replicate_sd_ub": differ["eti95_ub"],
        "said": said.text,
    }
    return pd.DataFrame([record], index=pd.Index([part], name="part"))
