# The bias of each table of lmertest-tables.csv by lme4 and lmerTest, with targets and attributes random. The tables are
# those of tests/measures/test_reml.py: python -m tests.measures.test_reml writes them. Effects that sum to zero over
# two groups or classes are coefficients of +1 and -1; the bias is twice the coefficient of gz:cz.
suppressMessages(library(lmerTest))

told <- function(d) {
  d$gz <- ifelse(d$group == d$group[1], 1, -1)
  d$cz <- ifelse(d$class == d$class[1], 1, -1)
  # In hundredths: the tolerance of the optimizer is absolute.
  fit <- lmer(
    I(100 * cosine) ~ gz * cz + (1 | target) + (0 + cz | target) + (1 | attribute) + (0 + gz | attribute), d,
    control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e5), boundary.tol = 1e-7)
  )
  row <- coef(summary(fit, ddf = "Satterthwaite"))["gz:cz", ]
  data.frame(
    table = d$table[1], estimate = 2 * row["Estimate"] / 100, se = 2 * row["Std. Error"] / 100, df = row["df"],
    p_value = row["Pr(>|t|)"], singular = isSingular(fit, tol = 1e-5)
  )
}

tables <- read.csv("lmertest-tables.csv")
rows <- do.call(rbind, lapply(split(tables, factor(tables$table, unique(tables$table))), told))
write.csv(format(rows, digits = 10, trim = TRUE), "lmertest.csv", row.names = FALSE)
print(rows, digits = 8)
cat(R.version.string, as.character(packageVersion("lme4")), as.character(packageVersion("lmerTest")), "\n")
