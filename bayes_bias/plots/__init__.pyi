"""Figures of a fit: one plot per file, each returns matplotlib axes."""

from .atlas import plot_atlas as plot_atlas
from .atlas import plot_changes as plot_changes
from .cost import plot_cost as plot_cost
from .criterion import plot_criterion as plot_criterion
from .forest import plot_forest as plot_forest
from .overview import plot_overview as plot_overview
from .plan import plot_plan as plot_plan
from .posterior import plot_posterior as plot_posterior
from .ranking import plot_ranking as plot_ranking
from .ranking import plot_removal as plot_removal
from .replicates import plot_replicates as plot_replicates
from .sentence_pairs import plot_sentence_pairs as plot_sentence_pairs
from .stability import plot_stability as plot_stability
from .sub_topics import plot_sub_topics as plot_sub_topics
from .tpr_gaps import plot_tpr_gaps as plot_tpr_gaps
from .variance_shares import plot_variance_shares as plot_variance_shares
from .word_bias import plot_word_bias as plot_word_bias
