"""One press: a `Document` of any result becomes a folder with a page, tables, figures, methods and provenance."""
