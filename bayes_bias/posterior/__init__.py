"""What a fit says: scopes, estimands, summary, verdict, contrasts, the design study, several lists together."""
