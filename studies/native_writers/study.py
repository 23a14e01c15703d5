"""The study of native writers: what it reads, computes, says and draws."""

from studies.native_writers.computing import FILES, compute
from studies.native_writers.figures import draw
from studies.native_writers.page import facts, headlines
from studies.study import Study

STUDY = Study("native_writers", FILES, compute, facts, headlines, draw)
