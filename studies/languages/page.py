"""What the text of the study of languages says, from its results."""

from typing import Any

import pandas as pd

from studies.languages.data import CORPORA, NAMES
from studies.study import HERE, Results, interval, p_value, read_results, signed


def facts(results: Results) -> dict[str, Any]:
    """Counts, tables and correlations of the text."""
    career, occupations, pleasantness = (results[name] for name in ("career", "occupations", "pleasantness"))
    published = career[career.d_published.notna()]
    return {
        "cells": career,
        "published": published,
        "differences": _differences(published),
        "found": career[career.verdict == "distinguishable"],
        "borderline": career[career.verdict == "borderline"],
        "by_corpus": _by_corpus(results),
        "of_career": results["pooled"].query("effect == 'mu' and part.str.startswith('career')"),
        "replicates": results["replicates"].set_index("part"),
        "japanese": career.set_index(["corpus", "code"]).loc[("wiki", "ja")],
        "scores": _scores(results["occupation_scores"]),
        "occupations": occupations,
        "paired_only": occupations[
            (occupations.verdict == "distinguishable") & (occupations.weat_p >= 0.05) & (occupations.quasi_f_p >= 0.05)
        ],
        "pleasantness": pleasantness,
        "of_lists": _of_lists(pleasantness),
        "missing": [NAMES[code] for code in results["missing"].embedding.unique()],
        "ratios": _ratios(results),
        "count": count,
        "correlations": _correlations(results["correlations"]),
        "criterion": _criterion(results["criterion"]),
        "of_new_words": _of_new_words(results["criterion"]),
        "widened": _widened(pleasantness),
        "not_found": _not_found(pleasantness),
    }


def count(cells: pd.DataFrame) -> dict[str, int]:
    """How many cells each way of asking finds at the 5% level; ``priors`` with either prior."""
    found = cells.verdict == "distinguishable"
    both = (cells.half_verdict == "distinguishable") & (cells.double_verdict == "distinguishable")
    return {
        "cells": len(cells),
        "weat": int((cells.weat_p < 0.05).sum()),
        "quasi_f": int(((cells.quasi_f_p < 0.05) & (cells.bias > 0)).sum()),
        "posterior": int((found & (cells.bias > 0)).sum()),
        "against": int((found & (cells.bias < 0)).sum()),
        "priors": int((found & both & (cells.bias > 0)).sum()),
        "holm": int((cells.survives & (cells.bias > 0)).sum()),
    }


def _differences(published: pd.DataFrame) -> pd.DataFrame:
    """Cells whose d with one standard deviation, over words with both forms, is not the published one."""
    apart = (published.d - published.d_published).abs()
    rows = published[apart > 0.05].sort_values("d_published")
    return pd.DataFrame(
        {
            "language": rows.language,
            "corpus": rows.corpus,
            "published d": rows.d_published.map("{:.3f}".format),
            "by the original's rule": rows.d_as_published.map("{:.3f}".format),
            "one standard deviation": rows.d.map("{:.3f}".format),
            "career, family words": [f"{row.n_career}, {row.n_family}" for row in rows.itertuples()],
        }
    )


def _by_corpus(results: Results) -> pd.DataFrame:
    replicates = results["replicates"].set_index("part")
    pooled = results["pooled"].set_index(["part", "effect"])
    rows = []
    for corpus in CORPORA:
        cells, part = results["career"].query("corpus == @corpus"), f"career, {corpus}"
        mean, same = pooled.loc[(part, "mu")], replicates.loc[part]
        counts = count(cells)
        rows.append(
            {
                "corpus": corpus,
                "languages": str(counts["cells"]),
                "WEAT p < .05": str(counts["weat"]),
                "quasi-F": str(counts["quasi_f"]),
                "posterior": str(counts["posterior"]),
                "after Holm": str(counts["holm"]),
                "mean of languages": f"{signed(mean['mean'])} {interval([mean.eti95_lb, mean.eti95_ub])}",
                "languages as replicates": f"{signed(same.bias)} {interval([same.lb, same.ub])}"
                f" ({same.languages:.0f} languages)",
            }
        )
    return pd.DataFrame(rows)


def _of_lists(cells: pd.DataFrame) -> pd.DataFrame:
    names = {"weat1": "flowers, insects", "weat2": "instruments, weapons"}
    rows = []
    for name, title in names.items():
        counts = count(cells[cells["list"] == name])
        rows.append(
            {
                "list": title,
                "languages": str(counts["cells"]),
                "WEAT p < .05": str(counts["weat"]),
                "quasi-F": str(counts["quasi_f"]),
                "posterior": str(counts["posterior"]),
                "under all three priors": str(counts["priors"]),
                "after Holm": str(counts["holm"]),
            }
        )
    return pd.DataFrame(rows)


def _not_found(cells: pd.DataFrame) -> pd.DataFrame:
    rows = cells[cells.verdict != "distinguishable"].sort_values(["list", "bias"])
    return pd.DataFrame(
        {
            "list": rows["list"],
            "language": rows.language,
            "bias": [f"{signed(row.bias)} {interval([row.ci95_lb, row.ci95_ub])}" for row in rows.itertuples()],
            "WEAT p": rows.weat_p.map(p_value),
            "quasi-F p": rows.quasi_f_p.map(p_value),
        }
    )


def _scores(scores: pd.DataFrame) -> dict[str, Any]:
    """How far recomputed scores of occupations are from the published ones."""
    known = scores[scores.published.notna()]
    apart = (known.recomputed - known.published).abs()
    return {
        "known": len(known),
        "same": int((apart < 5e-4).sum()),
        "most": apart.max(),
        "at": known.loc[apart.idxmax()],
    }


def _ratios(results: Results) -> pd.DataFrame:
    """How much larger the sampling variance is with attributes as samples, too."""
    names = {"career": "career", "occupations": "forms of occupations", "pleasantness": "flowers, instruments"}
    rows = []
    for part, name in names.items():
        low, middle, high = results[part].variance_ratio.quantile([0.1, 0.5, 0.9])
        rows.append({"list": name, "median": f"{middle:.2f}", "80% of cells": f"{low:.2f} to {high:.2f}"})
    return pd.DataFrame(rows)


def _correlations(rows: pd.DataFrame) -> pd.DataFrame:
    """Of languages' published d, and biases, with people's implicit association, as if both were known exactly."""
    table = rows.assign(said=[f"{signed(row.r, 2)} {interval([row.lb, row.ub], 2)}" for row in rows.itertuples()])
    of_d, of_bias = (table[table["of"] == of].set_index("corpus") for of in ("d_as_published", "bias"))
    wide = pd.DataFrame({"languages": of_d.languages.astype(str), "d": of_d.said, "bias": of_bias.said})
    return wide.loc[[*CORPORA]].reset_index()


def _criterion(rows: pd.DataFrame) -> pd.DataFrame:
    """The correlation of biases with people's implicit association, errors in both, for these and for new words."""
    table = []
    for corpus in CORPORA:
        for equal in ("", "age"):
            mine = rows[(rows.corpus == corpus) & (rows.at_equal.fillna("") == equal)].set_index(["quantity", "words"])
            table.append(
                {
                    "corpus": corpus if not equal else "... at equal median age",
                    "languages": str(mine.languages.iloc[0]),
                    "as observed": _median(mine.loc[("correlation", "as observed")]),
                    "these words": _median(mine.loc[("correlation", "these words")]),
                    "new words": _median(mine.loc[("correlation", "new words")]),
                    "reliability of biases": f"{mine.loc[('reliability of bias', 'new words')]['median']:.2f}",
                }
            )
    return pd.DataFrame(table)


def _of_new_words(rows: pd.DataFrame) -> int:
    """In how many corpora the correlation for new words is distinguishable from none."""
    mine = rows[(rows.quantity == "correlation") & (rows.words == "new words") & (rows.at_equal.fillna("") == "")]
    return int((mine.eti95_lb > 0).sum())


def _median(row: "pd.Series[Any]") -> str:
    return f"{signed(row['median'], 2)} {interval([row.eti95_lb, row.eti95_ub], 2)}"


def _widened(pleasantness: pd.DataFrame) -> dict[str, Any]:
    """How much wider sub-topics make intervals in English GoogleNews vectors, and what is left if all were."""
    english = read_results(HERE / "ten_tests" / "results")["cells"].set_index(["embedding", "list"]).loc["GoogleNews"]
    factor = (english.ci95_ub - english.ci95_lb) / (english.independent_ci95_ub - english.independent_ci95_lb)
    half = (pleasantness.ci95_ub - pleasantness.ci95_lb) / 2 * pleasantness["list"].map(factor)
    return {**factor[["weat1", "weat2"]], "left": int((pleasantness.bias > half).sum()), "of": len(pleasantness)}


def headlines(results: Results) -> list[tuple[str, str, str]]:
    """Career, flowers and instruments in a line each."""
    career = results["career"].query("d_published.notna()")
    same = results["replicates"].set_index("part").loc["career, wiki"]
    of, lists = count(career), count(results["pleasantness"])
    cells = f"{of['cells']} effect sizes, {career.code.nunique()} languages"
    return [
        (
            "Male words lie closer to career, female words to family (Lewis & Lupyan 2020)",
            f"{cells}; WEAT p < .05 in {of['weat']}",
            f"distinguishable in {of['posterior']}, after Holm's adjustment in {of['holm']}; languages as replicates"
            f" {signed(same.bias)} {interval([same.lb, same.ub])}",
        ),
        (
            "Flowers and instruments are pleasant, in the same data",
            f"WEAT p < .05 in {lists['weat']} of {lists['cells']} cells",
            f"distinguishable in {lists['posterior']}, after Holm's adjustment in {lists['holm']}",
        ),
    ]
