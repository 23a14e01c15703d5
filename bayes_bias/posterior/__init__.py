"""Estimands, scopes, summary, verdict, contrasts, planning, and several lists together."""
