"""A published WEAT effect: what it is worth without its vectors."""
