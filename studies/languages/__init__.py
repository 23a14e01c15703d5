"""Stereotypes of gender, and what is pleasant, in the vectors of 25 and more languages."""
