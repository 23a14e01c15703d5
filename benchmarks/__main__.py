"""Draw tables of the evidence: `python -m benchmarks NAME ... [--draws N]`; without a name, list them all."""

import argparse
import logging
import os

from benchmarks.cells import RESULTS


def main() -> None:
    """Draw the named tables, or say which are up to date."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*RESULTS, []], help="tables to draw")
    parser.add_argument("--draws", type=int, help="instead of the number that the evidence has")
    chosen = parser.parse_args()
    logging.getLogger("bayes_bias").setLevel(logging.ERROR)
    for name in chosen.names:
        RESULTS[name].keep(chosen.draws)
    if not chosen.names:
        for result in RESULTS.values():
            state = "up to date" if result.is_up_to_date else "stale"
            missing = f", needs ${result.needs}" if result.needs and result.needs not in os.environ else ""
            print(f"{result.name:24}{result.draws:>6} draws  {state}{missing}")


if __name__ == "__main__":
    main()
