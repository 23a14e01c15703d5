"""``python -m studies.languages --data FOLDER``."""

from studies.languages.study import STUDY
from studies.study import main

main(STUDY)
