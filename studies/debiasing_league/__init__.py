"""A league of debiasing methods in worlds whose bias is known."""
