"""Re-evaluation of a published WEAT effect size if the vectors are not available."""
