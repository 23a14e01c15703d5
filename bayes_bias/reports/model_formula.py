"""The crossed model of a value as a formula, as text and as LaTeX."""

_ASSOCIATED = r" \, \mathbf{1}[c \textrm{ associated}]"


def formula(*, shared: bool, grouped: bool, replicated: bool) -> str:
    """The model of a value.

    `shared` gives targets a level in the associated classes, `grouped` stands for several groups, and `replicated` for
    replicates.
    """
    level = "a[i{r}] + u[i{r}] (where c is associated with a group)" if shared else "u[i{r}]"
    attribute = "b[j{r}] + w[j, g{r}]" if grouped else "b[j{r}]"
    effects = f"{level} + x[i, c{{r}}] + {attribute} + e[i, j{{r}}]"
    of_words = f"mean[g, c] + {effects.format(r='')}"
    if not replicated:
        return of_words
    of_replicate = "h[r] + h[r, g] + h[r, c] + h[r, g, c]" if grouped else "h[r] + h[r, c]"
    return f"{of_words} + {of_replicate} + {effects.format(r=', r')}"


def equation(*, shared: bool, grouped: bool, replicated: bool) -> str:
    """The same formula in LaTeX, in rows that fit the columns of a paper."""
    level = r"a_{i%s} + u_{i%s}" + _ASSOCIATED if shared else "u_{i%s}"
    others = f"x_{{ic%s}} + b_{{j%s}} + {'w_{jg%s} + ' if grouped else ''}e_{{ij%s}}"
    once, by_replicate = ((_indexed(level, r), _indexed(others, r)) for r in ("", "r"))
    rows = [rf"y_{{ij{'r' if replicated else ''}}} = \mathit{{mean}}_{{gc}} + {once[0]}", once[1]]
    if replicated:
        rows += ["h_r + h_{rg} + h_{rc} + h_{rgc}" if grouped else "h_r + h_{rc}", *by_replicate]
    return r"\[ \begin{array}{l} " + r" \\ \quad {} + ".join(rows) + r" \end{array} \]"


def _indexed(effects: str, replicate: str) -> str:
    return effects.replace("%s", replicate)
