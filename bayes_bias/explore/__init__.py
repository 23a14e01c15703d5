"""A page in the browser, on which people without code type words and read the verdict of a report."""
