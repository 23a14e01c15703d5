"""What "bias" means: contrasts of block means, and over which words they may generalise."""
