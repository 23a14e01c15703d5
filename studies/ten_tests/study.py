"""The study of the ten tests: what it reads, computes, says and draws."""

from studies.study import Study
from studies.ten_tests.computing import FILES, compute
from studies.ten_tests.figures import draw
from studies.ten_tests.page import facts, headlines

STUDY = Study("ten_tests", FILES, compute, facts, headlines, draw)
