"""The data: tables of associations between targets and attributes, however they were measured."""
