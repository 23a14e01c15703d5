"""Does bias go with something outside the embedding? A measurement-error model with errors in both."""
