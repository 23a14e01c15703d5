"""What would be released, as a stranger gets it: `make wheel`, `make sdist`.

Builds the sdist, and the wheel from it, and checks their metadata and sizes. Then each Python gets a new environment:
one into which the wheel is installed without the network, or (`--tests`) one in which the unpacked sdist tests itself.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL = 12_000_000


def main() -> None:
    """Build, check, install."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="each gets a new environment")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where sdist and wheel go")
    parser.add_argument("--constraint", type=Path, default=ROOT / "constraints.txt", help="versions to install")
    parser.add_argument("--tests", nargs="*", metavar="OPTION", help="test the unpacked sdist, with options of pytest")
    chosen = parser.parse_args()
    sdist, wheel = built(chosen.dist.resolve())
    for python in chosen.python:
        with tempfile.TemporaryDirectory() as folder:
            if chosen.tests is None:
                install_without_network(python, wheel, chosen.constraint, Path(folder))
            else:
                test_itself(python, sdist, chosen.constraint, Path(folder), chosen.tests)


def built(dist: Path) -> tuple[Path, Path]:
    """The sdist and the wheel, checked."""
    for old in dist.glob("bayes_bias-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", dist, ROOT)
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB; {sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB")
    if size > LARGEST_WHEEL:
        sys.exit(f"{wheel.name} has {size:,} bytes; at most {LARGEST_WHEEL:,} are meant to be there")
    return sdist, wheel


def install_without_network(python: str, wheel: Path, constraint: Path, folder: Path) -> None:
    """A new environment from downloaded wheels alone, and a report in it."""
    pip, command = environment(python, folder)
    wheels = folder / "wheels"
    run(*pip, "download", "--only-binary", ":all:", "--dest", wheels, "--constraint", constraint, f"{wheel}[all]")
    run(*pip, "install", "--no-index", "--find-links", wheels, "bayes-bias[all]")
    run(*pip, "check")
    run(command / "bayes-bias", "report", "weat7", "--out", "report", cwd=folder)
    assert (folder / "report" / "index.html").stat().st_size > 100_000


def test_itself(python: str, sdist: Path, constraint: Path, folder: Path, options: list[str]) -> None:
    """The sdist, unpacked in an empty folder, is installed, tested, and makes a report."""
    pip, command = environment(python, folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    home = folder / sdist.name.removesuffix(".tar.gz")
    run(*pip, "install", "--constraint", constraint, "--editable", f"{home}[test]")
    workers = ("--numprocesses", "auto", "--dist", "loadfile")
    run(command / "python", "-m", "pytest", *workers, *options, cwd=home)
    run(command / "bayes-bias", "report", "weat7", "--out", "report", cwd=folder)


def environment(python: str, folder: Path) -> tuple[tuple[str | Path, ...], Path]:
    """The pip and the folder of commands of a new environment."""
    run(python, "-m", "venv", folder / "environment")
    command = folder / "environment" / "bin"
    return (command / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"), command


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command, print it, and stop where it fails. No setting of the checkout reaches it."""
    words = [str(word) for word in command]
    print("$", *words, flush=True)
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(words, cwd=cwd, env=clean | {"OPENBLAS_NUM_THREADS": "1"}, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode} of: {' '.join(words)}")


if __name__ == "__main__":
    main()
