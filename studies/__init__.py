"""Studies of published findings: each a folder with a text like a short paper, its code, its results and its figures.

    python -m studies.NAME --data FOLDER

makes one again from the reader's copy of the data, with the public functions of `bayes_bias` only. Known bias and the
league of debiasing methods look deeper, and make data of their own. No study is part of the package.
"""
