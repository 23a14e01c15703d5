"""``python -m studies.people --data studies/ten_tests/results``."""

from studies.people.study import STUDY
from studies.study import main

main(STUDY)
