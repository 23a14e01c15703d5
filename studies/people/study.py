"""The study of people's effects: what it reads, computes, says and draws."""

from studies.people.computing import FILES, compute
from studies.people.figures import draw
from studies.people.page import facts, headlines
from studies.study import Study

STUDY = Study("people", FILES, compute, facts, headlines, draw)
