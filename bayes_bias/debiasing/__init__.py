"""Before and after: hard debiasing, and what it changed."""
