"""What the cells of all pages need: `docs/conf.py` has every kernel load it."""

import os
import subprocess

from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure


def console(line: str, cell: str) -> None:
    """Run each line of a cell as a command, and show both as a terminal would."""
    for command in cell.strip().splitlines():
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr}")
        print(f"$ {command}\n{done.stdout.strip(chr(10))}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Figures that are sharp at any size; commands whose output is plain text."""
    os.environ.pop("FORCE_COLOR", None)  # the kernel asks for the colours of a terminal
    shell.register_magic_function(console, "cell")
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("config", "InlineBackend.figure_formats = ['svg']")
    shell.display_formatter.formatters["image/png"].for_type(Figure, lambda figure: None)
