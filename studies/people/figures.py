"""The figure of people's effects."""

from pathlib import Path

from studies.figures import FOUND, OTHER, figure
from studies.study import Results


def draw(results: Results, folder: Path) -> None:
    """Draw each test's bias against the effect in people, with the errors of both."""
    tests = results["tests"]
    names = list(dict.fromkeys(tests.embedding))
    with figure(folder / "people.png", 8, 3.1, len(names), sharey=True, sharex=True) as axes:
        for ax, name in zip(axes, names, strict=True):
            for test in tests[tests.embedding == name].itertuples():
                found = test.verdict == "distinguishable"
                colour = FOUND if found else OTHER
                ax.plot([test.people_d] * 2, [test.ci95_lb, test.ci95_ub], color=colour, linewidth=1.2)
                spread = 1.96 * test.people_se
                ax.plot([test.people_d - spread, test.people_d + spread], [test.bias] * 2, color=colour, linewidth=0.6)
                ax.plot(
                    test.people_d,
                    test.bias,
                    "o",
                    markersize=4,
                    color=colour,
                    markerfacecolor=colour if found else "white",
                )
                below = test.list == "weat10"  # above it is test 1
                end, place = (test.ci95_lb, (0, -8)) if below else (test.ci95_ub, (0, 2))
                where = {"ha": "center", "xytext": place, "textcoords": "offset points"}
                ax.annotate(test.list.removeprefix("weat"), (test.people_d, end), **where, fontsize=7, color=colour)
            ax.axhline(0, color="black", linewidth=0.7)
            ax.set_title(name, loc="left", fontsize=9.5, fontweight="bold")
        axes[0].set_ylabel("bias (difference of mean cosines)")
        axes[1].set_xlabel("effect in people (d of the IAT)")
