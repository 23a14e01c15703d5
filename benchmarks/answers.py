"""Answers of chat models: `python -m benchmarks.answers flips held-out planted sbc speed`, each as often as it says.

- flips: of real answers to the 13 stereotypes with several labels, the signs of D are flipped at random, so that there
  is no association: one sign for each answer, pair of labels, label (of the first group, or of the second) or wording.
- held-out: of real answers, half of the labels of both groups are left out. Does the predictive interval of their mean
  D hold it?
- planted: answers with effects of labels, pairs, wordings and of themselves, cut off at -1 and 1 as D is; the truth is
  the mean of D over new ones of all of them.
- sbc: parameters from the priors, D from the model; ranks must be uniform.
- speed: 100,000 answers.
"""

import argparse
import logging
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

import bayes_bias as bb
from bayes_bias.analyses.answers.cell import Cell
from bayes_bias.analyses.answers.model import ANSWER, PRIORS, SAMPLES, Density, Observed, keys_of, loadings, observed
from bayes_bias.analyses.answers.posterior import MAX_PARETO_K, Posterior, sample
from bayes_bias.analyses.answers.published import t_test, two_way
from bayes_bias.analyses.answers.reading import read_answers
from benchmarks.markdown import circumstances, markdown_table
from benchmarks.provenance import provenance, read, write
from benchmarks.shares import from_to, share_of

_SEED = 20261125
# Of each stereotype with several labels, which makes 533 of 13.
FLIPS, SPLITS, PLANTED, FITS = 41, 40, 80, 400
FLIPPED = ("answer", "pair", "label of the first group", "label of the second group", "wording")


def main() -> None:
    """Measure the parts that are named, and keep each result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=list(_PARTS))
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    for part in parser.parse_args().parts:
        table = pd.DataFrame(list(_PARTS[part]()))
        print(table.to_string(), flush=True)
        write(f"answers-{part}", provenance() | {"seed": _SEED}, table.to_dict("records"))


def real() -> list[Cell]:
    """The published answers to stereotypes with several labels."""
    return [cell for cell in read_answers("answers-demo", "answers-demo").cells if not cell.is_one_pair]


# Signs of real answers flipped: there is nothing to find.


def flips() -> Iterator[dict[str, object]]:
    """Shares of findings by what was flipped, for the model and three tests."""
    cells = [(cell, observed(cell)) for cell in real()]
    for flipped in FLIPPED:
        rng = np.random.default_rng([_SEED, FLIPPED.index(flipped)])
        rows = pd.DataFrame(
            [tests(cell, data, signs(cell, flipped, rng), seed) for seed in range(FLIPS) for cell, data in cells]
        )
        few = rows.pop("few")
        yield {
            "flipped": flipped,
            "draws": len(rows),
            **rows.mean().to_dict(),
            "five labels, draws": int((~few).sum()),
            "five labels, this model": float(rows["this model"][~few].mean()),
        }


def signs(cell: Cell, flipped: str, rng: np.random.Generator) -> np.ndarray:
    """A sign for each answer, the same for all that have in common what is flipped."""
    replies = cell.counted
    if flipped == "answer":
        return rng.choice([-1, 1], len(replies))
    keys = {
        "pair": replies.label_a.astype(str) + "/" + replies.label_b.astype(str),
        "label of the first group": replies.label_a,
        "label of the second group": replies.label_b,
        "wording": replies.wording,
    }
    codes, names = pd.factorize(keys[flipped])
    return rng.choice([-1, 1], len(names))[codes]


def tests(cell: Cell, data: Observed, sign: np.ndarray, seed: int) -> dict[str, bool]:
    """What the model and the tests find at the 5% level."""
    replies, d = cell.counted, data.difference * sign
    hits, valid = replies.hits_a + replies.hits_b, replies.valid_a + replies.valid_b
    stereotypical = int(np.where(sign > 0, hits, valid - hits).sum())
    posterior = sample(Density(replace(data, difference=d), SAMPLES["all"]), seed)
    _, _, robust = two_way(d, replies.label_a.to_numpy(), replies.label_b.to_numpy(), 0.95)
    return {
        "binomial": stats.binomtest(stereotypical, int(valid.sum())).pvalue < 0.05,
        "t test": t_test(d)[1] < 0.05,
        "robust t": robust < 0.05,
        "this model": found(posterior),
        "few": min(len(cell.labels("a")), len(cell.labels("b"))) < 5,
        "unreliable": posterior.pareto_k > MAX_PARETO_K,
    }


def found(posterior: Posterior) -> bool:
    """Whether the 95% interval excludes zero."""
    lower, upper = posterior.draws.mu.quantile([0.025, 0.975])
    return bool(lower > 0 or upper < 0)


# Labels of real answers held out.


def held_out() -> Iterator[dict[str, object]]:
    """Coverage of the mean D of labels that were left out, by stereotype."""
    for cell in real():
        if min(len(cell.labels("a")), len(cell.labels("b"))) < 4:
            continue
        rng = np.random.default_rng([_SEED, len(cell.stereotype)])
        rows = pd.DataFrame([held_out_once(cell, rng, seed) for seed in range(SPLITS)])
        labels = (len(cell.labels("a")), len(cell.labels("b")))
        yield {
            "stereotype": cell.stereotype,
            "labels": "{} × {}".format(*labels),
            "splits": SPLITS,
        } | rows.mean().to_dict()


def held_out_once(cell: Cell, rng: np.random.Generator, seed: int) -> dict[str, float]:
    """Whether predictive intervals from half of the labels hold the mean D of the other half.

    Wordings are the same in both halves, and have no effect in either model.
    """
    data, replies = observed(cell), cell.counted
    kept = np.ones(len(replies), bool)
    out = np.ones(len(replies), bool)
    for side in "ab":
        names = cell.labels(side)
        chosen = rng.permutation(names)[: len(names) // 2]
        labels = replies[f"label_{side}"]
        kept &= labels.isin(chosen).to_numpy()
        out &= labels.isin(set(names) - set(chosen)).to_numpy()
    fitted = replace(data, difference=data.difference[kept], keys=keys_of(replies[kept]))
    left, truth = keys_of(replies[out]), data.difference[out].mean()
    row: dict[str, float] = {}
    for name, effects in {"labels": ("word", "label_a", "label_b", "pair"), "trials alone": ()}.items():
        draws = sample(Density(fitted, effects), seed).draws
        variance = draws[f"sd_{ANSWER}"] ** 2 / len(left)
        for effect in effects:
            share = loadings(left, effect, data.words).mean(axis=0)
            if effect != "word":  # the same words
                variance = variance + draws[f"sd_{effect}"] ** 2 * (share @ share)
        predicted = draws.mu + rng.standard_normal(len(draws)) * np.sqrt(variance)
        lower, upper = predicted.quantile([0.025, 0.975])
        row |= {f"{name}: covers": lower <= truth <= upper, f"{name}: width": upper - lower}
    return row


# Planted differences.

NEARLY = "nearly all labels"
# Standard deviations of labels of either group, of pairs, and of answers.
SPREADS = {
    "answers alone": (0.0, 0.0, 0.0, 0.8),
    "answers and labels": (0.3, 0.3, 0.2, 0.6),
    NEARLY: (0.7, 0.7, 0.4, 0.2),
}


def planted() -> Iterator[dict[str, object]]:
    """Coverage of the mean of D over new labels, wordings and answers."""
    for labels in (5, 8):
        for name, spread in SPREADS.items():
            for latent in (0.0, 0.4, 0.8, 1.2, *((2.0,) if name == NEARLY else ())):
                rng = np.random.default_rng([_SEED, labels, list(SPREADS).index(name), round(10 * latent)])
                yield planted_cell(labels, name, spread, latent, rng)


def planted_cell(
    labels: int, name: str, spread: tuple[float, ...], latent: float, rng: np.random.Generator
) -> dict[str, object]:
    """One design, so many times."""
    of_wordings = 0.1
    total = np.sqrt(sum(sd**2 for sd in spread) + of_wordings**2)
    grid = stats.norm(latent, total).ppf((np.arange(20_000) + 0.5) / 20_000)
    truth = float(np.clip(grid, -1, 1).mean())
    rows = []
    for seed in range(PLANTED):
        data = simulated(labels, 200, (of_wordings, *spread), latent, rng)
        d = np.round(np.clip(data.difference, -1, 1) * 8) / 8
        posterior = sample(Density(replace(data, difference=d), SAMPLES["all"]), seed, draws=2000)
        lower, upper = posterior.draws.mu.quantile([0.025, 0.975])
        _, _, robust = two_way(d, *(data.keys[k].to_numpy().astype(object) for k in ("label_a", "label_b")), 0.95)
        error = d.std(ddof=1) / np.sqrt(len(d)) * stats.t.ppf(0.975, len(d) - 1)
        low, high, _ = two_way(d, *(data.keys[k].to_numpy().astype(object) for k in ("label_a", "label_b")), 0.95)
        rows.append(
            {
                "covers": lower <= truth <= upper,
                "width": upper - lower,
                "error": posterior.draws.mu.mean() - truth,
                "found": lower > 0 or upper < 0,
                "t covers": abs(d.mean() - truth) <= error,
                "robust covers": low <= truth <= high,
                "robust found": robust < 0.05,
            }
        )
    about = {"varies": name, "labels": labels, "truth": truth, "simulations": PLANTED}
    return about | pd.DataFrame(rows).mean().to_dict()


def simulated(
    labels: int, number: int, sds: tuple[float, ...], mean: float, rng: np.random.Generator, wordings: int = 3
) -> Observed:
    """Answers of the model with standard deviations of wordings, labels of both groups, pairs and answers."""
    a, b, v = rng.integers(labels, size=number), rng.integers(labels, size=number), rng.integers(wordings, size=number)
    pair = a * labels + b
    of_wording, of_a, of_b, of_pair, of_answer = sds
    difference = (
        mean
        + of_wording * rng.standard_normal(wordings)[v]
        + of_a * rng.standard_normal(labels)[a]
        + of_b * rng.standard_normal(labels)[b]
        + of_pair * rng.standard_normal(labels**2)[pair]
        + of_answer * rng.standard_normal(number)
    )
    keys = pd.DataFrame(
        {
            "word_set": np.zeros(number, int),
            **{
                name: pd.factorize(codes, sort=True)[0]
                for name, codes in {"wording": v, "label_a": a, "label_b": b, "pair": pair}.items()
            },
        }
    )
    words = np.repeat([[1 / 8, -1 / 8]], 8, axis=1).reshape(1, 16)
    noise = np.full(14, 0.02)
    return Observed(difference, keys, words, rng.standard_normal(14) * noise, noise, (1 / 64 + 1 / 64) / 12)


# Simulation-based calibration.


def sbc() -> Iterator[dict[str, object]]:
    """Uniformity of the ranks of every parameter."""
    rng = np.random.default_rng([_SEED, 4])
    names = (*SAMPLES["all"], ANSWER)
    ranks = pd.DataFrame([rank_once(rng, names, seed) for seed in range(FITS)])
    for name, values in ranks.items():
        if name != "pareto_k":
            yield {"quantity": name, "fits": FITS, "p": float(stats.kstest(values, "uniform").pvalue)}
    yield {"quantity": "Pareto k above .7", "fits": FITS, "p": float((ranks.pareto_k > MAX_PARETO_K).mean())}


def rank_once(rng: np.random.Generator, names: tuple[str, ...], seed: int) -> dict[str, float]:
    """The share of draws below the truth, of each parameter."""
    truth = {name: abs(rng.normal(0, PRIORS[name])) for name in names}
    mu = rng.uniform(-1, 1)
    sds = tuple(truth[name] for name in ("wording", "label_a", "label_b", "pair"))
    made = simulated(4, 80, (*sds, 0.0), mu, rng)
    spread = np.sqrt(truth[ANSWER] ** 2 + made.rounding)
    contrasts = rng.standard_normal(14) * np.hypot(truth["word"], made.noise)
    of_words = truth["word"] * rng.standard_normal(16) @ made.words[0]
    d = made.difference + of_words + spread * rng.standard_normal(80)
    posterior = sample(Density(replace(made, difference=d, contrasts=contrasts), SAMPLES["all"]), seed)
    truth[ANSWER] = spread  # draws have the part of rounding, too
    ranks = {f"sd_{name}": float((posterior.draws[f"sd_{name}"] < truth[name]).mean()) for name in names}
    return {"mu": float((posterior.draws.mu < mu).mean()), **ranks, "pareto_k": posterior.pareto_k}


# How long it takes.


def speed() -> Iterator[dict[str, object]]:
    """100,000 answers of 16 words, read and estimated."""
    for labels, wordings in ((8, 5), (40, 5)):
        frame, wordlist = many(100_000, labels, wordings)
        start = time.perf_counter()
        bb.answers.estimate(frame, wordlist)
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        yield {
            "answers": 100_000,
            "rows": len(frame),
            "labels": f"{labels} × {labels}",
            "wordings": wordings,
            "seconds": seconds,
            "peak GB": peak,
        }


def many(number: int, labels: int, wordings: int) -> tuple[pd.DataFrame, dict[str, object]]:
    """So many answers of 16 words, and their list."""
    rng = np.random.default_rng(_SEED)
    wordlist = {
        "groups": {"first": [f"a{k}" for k in range(labels)], "second": [f"b{k}" for k in range(labels)]},
        "classes": {"good": [f"good{k}" for k in range(8)], "bad": [f"bad{k}" for k in range(8)]},
        "stereotypes": {"first": "good", "second": "bad"},
    }
    words = np.array([*wordlist["classes"]["good"], *wordlist["classes"]["bad"]])
    a, b, v = (rng.integers(n, size=number) for n in (labels, labels, wordings))
    of_label = rng.normal(0, 0.4, labels)
    share = rng.beta(*np.array([1 + np.clip(of_label[a], -0.9, 0.9), 1 - np.clip(of_label[a], -0.9, 0.9)]) * 0.3)
    stereotypical = rng.random((number, 16)) < share[:, None]
    to_a = stereotypical == (np.arange(16) < 8)
    first, second = np.array([f"a{k}" for k in range(labels)])[a], np.array([f"b{k}" for k in range(labels)])[b]
    columns = {
        "answer": np.repeat(np.arange(number), 16),
        "word": np.tile(words, number),
        "label_a": np.repeat(first, 16),
        "label_b": np.repeat(second, 16),
        "chosen": np.where(to_a, first[:, None], second[:, None]).ravel(),
        "wording": np.repeat(np.char.add("wording ", v.astype(str)), 16),
    }
    return pd.DataFrame({name: pd.Categorical(values) for name, values in columns.items()}), wordlist


_PARTS: dict[str, Callable[[], Iterator[dict[str, object]]]] = {
    "flips": flips,
    "held-out": held_out,
    "planted": planted,
    "sbc": sbc,
    "speed": speed,
}


# The page of evidence.


def answer() -> str:
    """Say how often nothing is found, and how often intervals hold the truth."""
    rows = pd.DataFrame(read("answers-flips")["rows"]).set_index("flipped")
    held, cells = pd.DataFrame(read("answers-held-out")["rows"]), pd.DataFrame(read("answers-planted")["rows"])
    of_labels = rows.loc[[name for name in rows.index if name.startswith("label")]]
    usual = cells[~extreme(cells)]
    return f"""With the signs of real answers flipped label by label, the published t test finds an association in
{from_to(of_labels["t test"])} of cases, and this model in {from_to(of_labels["this model"])};
flipped answer by answer or pair by pair it finds {from_to(rows.loc[["answer", "pair"], "this model"])}, wording by
wording {rows["this model"]["wording"]:.0%}. The predictive intervals hold the mean D of labels that were left out in
{held["labels: covers"].mean():.0%} of cases (trials alone: {held["trials alone: covers"].mean():.0%}), and those of D
a planted one in {from_to(usual["covers"])}, unless labels decide nearly all and D is large
({from_to(cells[extreme(cells)]["covers"])})."""


def extreme(cells: pd.DataFrame) -> "pd.Series[bool]":
    """Designs of which the report says that its interval is somewhat too short."""
    return (cells.varies == NEARLY) & (cells.truth > 0.4)


def flips_section() -> str:
    """Render findings where there is nothing to find."""
    rows, about = pd.DataFrame(read("answers-flips")["rows"]), read("answers-flips")["about"]
    shown = pd.DataFrame({"flipped by": rows.flipped, "draws": rows.draws})
    for name in ("binomial", "t test", "robust t", "this model"):
        shown[name] = [share_of(share, n) for share, n in zip(rows[name], rows.draws, strict=True)]
    shown["five labels or more"] = [
        share_of(share, n) for share, n in zip(rows["five labels, this model"], rows["five labels, draws"], strict=True)
    ]
    return f"""## Signs of real answers flipped

Answers of GPT-4o to 13 stereotypes with several labels (the shipped `answers-demo`). The sign of D is flipped at
random, with one sign for all answers that have in common what the row names, so that there is no association with new
ones of these. Share of findings at the 5% level: the binomial test over word choices, the published t test over
answers, the t test whose standard errors are robust to labels of both groups, and the 95% interval of this model for
new labels; the last column is of stereotypes with five labels of each group or more. Three wordings have the same sign
in a quarter of draws, and what is then the same in all of them no model can tell from an association.

{markdown_table(shown)}

{circumstances(about)}
"""


def held_out_section() -> str:
    """Render coverage of labels that were left out."""
    rows, about = pd.DataFrame(read("answers-held-out")["rows"]), read("answers-held-out")["about"]
    total = int(rows.splits.sum())
    covered = [share_of(rows[f"{name}: covers"].mean(), total) for name in ("labels", "trials alone")]
    shown = rows[["stereotype", "labels", "splits"]].assign(
        **{
            f"{name}: {what}": rows[f"{name}: {what}"].map(form)
            for name in ("labels", "trials alone")
            for what, form in {"covers": "{:.0%}".format, "width": "{:.2f}".format}.items()
        }
    )
    shown = shown.rename(columns={"labels": "labels of each group"})
    return f"""## Labels left out

The same answers. Half of the labels of both groups are drawn, the model is fitted to the answers that have only these,
and predicts the mean D of the answers that have none of them; {total} splits. Its 95% interval holds that mean in
{covered[0]} of them (splits of one stereotype are not independent); an interval that counts trials alone in
{covered[1]}. Half of four labels are two, so that how much labels differ is mostly what the prior says, which is more
than they do.

{markdown_table(shown)}

{circumstances(about)}
"""


def planted_section() -> str:
    """Render coverage of planted differences."""
    rows, about = pd.DataFrame(read("answers-planted")["rows"]), read("answers-planted")["about"]
    shown = pd.DataFrame(
        {
            "varies": rows.varies,
            "labels": rows.labels,
            "true D": rows.truth.map("{:.2f}".format),
            "covers": [share_of(share, n) for share, n in zip(rows.covers, rows.simulations, strict=True)],
            "width": rows.width.map("{:.2f}".format),
            "error": rows.error.map("{:+.2f}".format),
            "finds": rows.found.map("{:.0%}".format),
            "t covers": rows["t covers"].map("{:.0%}".format),
            "robust t covers": rows["robust covers"].map("{:.0%}".format),
        }
    )
    return f"""## Planted differences

200 simulated answers of {" or ".join(map(str, sorted(set(rows.labels))))} labels of each group and three wordings,
{int(rows.simulations.iloc[0])} simulations a row. Answers are not of the model: they are cut off at -1 and 1, as D is,
and have eight words of each class. The true D is the mean over new labels, wordings and answers. "Covers" is of the 95%
interval; "error" is the mean error of the posterior mean; "finds" how often the interval excludes zero. If labels
decide nearly all and D is near its end the interval may be too short, and a report says so.

{markdown_table(shown)}

{circumstances(about)}
"""


def sbc_section() -> str:
    """Render simulation-based calibration."""
    rows, about = pd.DataFrame(read("answers-sbc")["rows"]), read("answers-sbc")["about"]
    parameters = rows[~rows.quantity.str.startswith("Pareto")]
    unreliable = rows.p[rows.quantity.str.startswith("Pareto")].iloc[0]
    deviating = int((parameters.p < 0.05 / len(parameters)).sum())
    return f"""## Simulation-based calibration

Parameters from the priors, 80 answers of four labels of each group from the model, {int(rows.fits.iloc[0])} fits: the
truth's rank among the draws must be uniform. Kolmogorov-Smirnov p-values; {deviating or "none"} of {len(parameters)}
deviates at the 5% level with Bonferroni's adjustment. Pareto k was above .7 in {unreliable:.1%} of fits.

{markdown_table(parameters[["quantity", "p"]])}

{circumstances(about)}
"""


def speed_section() -> str:
    """Render how long many answers take."""
    rows, about = pd.DataFrame(read("answers-speed")["rows"]), read("answers-speed")["about"]
    return f"""## How long it takes

A frame of 100,000 answers with 16 words each, read, checked and estimated with its ladder, and the largest memory of
the process, in which the frame itself is made.

{markdown_table(rows)}

{circumstances(about)}
"""


if __name__ == "__main__":
    main()
