"""The evidence: each module runs a benchmark, keeps what it measured in `benchmarks/results`, and renders it."""
