"""``python -m studies.ten_tests --data FOLDER``."""

from studies.study import main
from studies.ten_tests.study import STUDY

main(STUDY)
