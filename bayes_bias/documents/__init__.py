"""Write the `Document` of any result to a folder with a page, tables, figures, methods, and provenance."""
