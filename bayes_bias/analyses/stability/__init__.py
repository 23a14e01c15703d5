"""Stability: the bias of a list across several training runs of one embedding."""
