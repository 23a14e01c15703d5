"""The study of languages: what it reads, computes, says and draws."""

from studies.languages.computing import FILES, compute
from studies.languages.figures import draw
from studies.languages.page import facts, headlines
from studies.study import Study

STUDY = Study("languages", FILES, compute, facts, headlines, draw)
