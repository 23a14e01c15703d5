"""Stability: the same words in several trainings of one embedding."""
