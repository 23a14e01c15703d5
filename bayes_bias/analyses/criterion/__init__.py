"""Correlation of bias with an external criterion, estimated by a model with measurement errors in both."""
