"""Does bias correlate with a measure outside the embedding? A measurement-error model with errors in both."""
