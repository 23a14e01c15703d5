# The replicated model of weat7 in ten templates by lme4, from weat7-templates.csv, the frame of
# bb.cosines("weat7", "minilm-demo", controls=()).to_frame(). Effects that sum to zero over two groups or classes are
# coefficients of +1 and -1. Prints the restricted log likelihood at the REML estimates and at other scales.
library(lme4)

d <- read.csv("weat7-templates.csv")
names(d)[names(d) == "attribute_class"] <- "class"
names(d)[names(d) == "template"] <- "replicate"
groups <- unique(d$group); classes <- unique(d$class)
d$gz <- ifelse(d$group == groups[1], 1, -1)
d$cz <- ifelse(d$class == classes[1], 1, -1)
for (k in 1:2) {
  d[[paste0("c", k)]] <- as.numeric(d$class == classes[k])
  d[[paste0("w", k)]] <- d[[paste0("c", k)]] * d$gz
}
d$cell <- interaction(d$group, d$class)
d$pair <- interaction(d$target, d$attribute, drop = TRUE)
d$tr <- interaction(d$target, d$replicate, drop = TRUE)
d$ar <- interaction(d$attribute, d$replicate, drop = TRUE)
d$gzcz <- d$gz * d$cz

effects <- c(
  sd_target_associated = "(1 | target)", sd_target_preference = "(0 + cz | target)",
  sd_attribute_1 = "(0 + c1 | attribute)", sd_attribute_2 = "(0 + c2 | attribute)",
  sd_attribute_preference_1 = "(0 + w1 | attribute)", sd_attribute_preference_2 = "(0 + w2 | attribute)",
  sd_residual = "(1 | pair)",
  sd_target_associated_by_replicate = "(1 | tr)", sd_target_preference_by_replicate = "(0 + cz | tr)",
  sd_attribute_1_by_replicate = "(0 + c1 | ar)", sd_attribute_2_by_replicate = "(0 + c2 | ar)",
  sd_attribute_preference_1_by_replicate = "(0 + w1 | ar)",
  sd_attribute_preference_2_by_replicate = "(0 + w2 | ar)",
  sd_replicate = "(1 | replicate)", sd_replicate_group = "(0 + gz | replicate)",
  sd_replicate_class = "(0 + cz | replicate)", sd_replicate_preference = "(0 + gzcz | replicate)"
)
model <- as.formula(paste("cosine ~ 0 + cell +", paste(effects, collapse = " + ")))
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 1e5), calc.derivs = FALSE)
start <- Sys.time()
parsed <- lFormula(model, d, REML = TRUE, control = control)
deviance_of <- do.call(mkLmerDevfun, parsed)
found <- optimizeLmer(deviance_of, optimizer = "bobyqa", control = list(maxfun = 1e5))

# Scales in the order of the parsed terms, which lme4 sorts by their number of levels.
labels <- sapply(parsed$reTrms$cnms, paste, collapse = "")
keys <- paste(labels, names(parsed$reTrms$cnms), sep = "|")
plain <- sub("\\)$", "", sub("^\\((0 \\+ )?", "", effects))
wanted <- sapply(strsplit(plain, " \\| "), function(p) paste(ifelse(p[1] == "1", "(Intercept)", p[1]), p[2], sep = "|"))
own <- names(effects)[match(keys, wanted)]

told <- function(point, theta) {
  criterion <- deviance_of(theta)
  e <- environment(deviance_of)
  n <- nrow(parsed$X); p <- ncol(parsed$X)
  sigma <- sqrt((e$resp$wrss() + e$pp$sqrL(1)) / (n - p))
  beta <- e$pp$beta(1)
  names(beta) <- colnames(parsed$X)
  w <- sapply(names(beta), function(x) {
    g <- which(sapply(groups, function(q) startsWith(x, paste0("cell", q, "."))))
    k <- which(sapply(classes, function(q) endsWith(x, paste0(".", q))))
    ifelse(g == k, 1, -1) / 2
  })
  covariance <- sigma^2 * chol2inv(e$pp$RX())
  rbind(
    data.frame(point = point, quantity = "log_likelihood", value = -criterion / 2),
    data.frame(point = point, quantity = own, value = theta * sigma),
    data.frame(point = point, quantity = "sd_residual_by_replicate", value = sigma),
    data.frame(point = point, quantity = c("bias", "se"), value = c(sum(w * beta), sqrt(drop(t(w) %*% covariance %*% w))))
  )
}
rows <- rbind(told("REML", found$par), told("all alike", rep(1, length(found$par))))
write.csv(rows, "lme4_replicates.csv", row.names = FALSE)
print(rows); print(Sys.time() - start)
cat(R.version.string, as.character(packageVersion("lme4")), "\n")
