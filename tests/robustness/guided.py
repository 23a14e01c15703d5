"""Coverage-guided fuzzing of one reader, by atheris: `pip install atheris`, where it has a wheel.

    python -m tests.robustness.guided "sweep.toml" -max_total_time=600

What follows the reader's name goes to libFuzzer. Files that reach new code are kept in `fuzz-findings/guided`, so that
a later run begins with them; the first outcome that is not allowed ends the run and leaves its file, `crash-...`.
"""

import logging
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bayes_bias", "tomllib"]):
    from tests.robustness.fuzzing import ALLOWED, outcome
    from tests.robustness.readers import READERS, seed_of


def main() -> None:
    """Fuzz the reader that is named first."""
    _, name, *options = sys.argv
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    known = Path("fuzz-findings") / "guided" / name
    known.mkdir(parents=True, exist_ok=True)
    (known / "valid").write_bytes(seed_of(name))
    with tempfile.TemporaryDirectory() as folder:

        def read(content: bytes) -> None:
            ended = outcome(READERS[name], content, Path(folder))
            if ended not in ALLOWED:
                raise AssertionError(ended)

        atheris.Setup([sys.argv[0], str(known), *options], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
