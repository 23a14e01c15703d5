"""``python -m studies.native_writers --data FOLDER``."""

from studies.native_writers.study import STUDY
from studies.study import main

main(STUDY)
