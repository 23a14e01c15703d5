"""The study of a chat model: what it reads, computes, says and draws."""

from studies.chat_model.computing import FILES, compute
from studies.chat_model.figures import draw
from studies.chat_model.page import facts, headlines
from studies.study import Study

STUDY = Study("chat_model", FILES, compute, facts, headlines, draw)
