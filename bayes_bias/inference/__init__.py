"""From a table and a spec to a fit: sampling, diagnostics, storage."""
