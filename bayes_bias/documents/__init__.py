"""Write the `Document` of any result as a folder with a page, tables, figures, methods and provenance."""
