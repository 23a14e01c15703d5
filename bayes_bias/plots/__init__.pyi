"""Figures of a fit: one plot per file, each returns matplotlib axes."""

from bayes_bias.analyses.answers.plots import plot_agreement as plot_agreement
from bayes_bias.analyses.answers.plots import plot_answers as plot_answers
from bayes_bias.analyses.answers.plots import plot_label_pairs as plot_label_pairs
from bayes_bias.analyses.answers.plots import plot_model_contrasts as plot_model_contrasts
from bayes_bias.analyses.answers.plots import plot_values as plot_values
from bayes_bias.analyses.criterion.plots import plot_criterion as plot_criterion
from bayes_bias.analyses.multiverse.plots import plot_multiverse as plot_multiverse
from bayes_bias.analyses.over_time.plots import plot_over_time as plot_over_time
from bayes_bias.analyses.sentence_pairs.plots import plot_sentence_pairs as plot_sentence_pairs
from bayes_bias.analyses.stability.plots import plot_stability as plot_stability
from bayes_bias.analyses.sweep.plots import plot_atlas as plot_atlas
from bayes_bias.analyses.sweep.plots import plot_changes as plot_changes
from bayes_bias.analyses.sweep.plots import plot_cost as plot_cost
from bayes_bias.analyses.sweep.plots import plot_ranking as plot_ranking
from bayes_bias.analyses.sweep.plots import plot_removal as plot_removal
from bayes_bias.analyses.tpr_gaps.plots import plot_tpr_gaps as plot_tpr_gaps

from .forest import plot_forest as plot_forest
from .forest import plot_overview as plot_overview
from .plan import plot_plan as plot_plan
from .posterior import plot_posterior as plot_posterior
from .replicates import plot_replicates as plot_replicates
from .variance_shares import plot_variance_shares as plot_variance_shares
from .words import plot_related_words as plot_related_words
from .words import plot_word_bias as plot_word_bias
