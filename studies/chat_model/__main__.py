"""``python -m studies.chat_model --data FOLDER``."""

from studies.chat_model.study import STUDY
from studies.study import main

main(STUDY)
