"""Which words: lists, the rules they must satisfy, and the sets that debiasing is told of."""
