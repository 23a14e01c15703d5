"""Studies of published findings: each a folder with a text like a short paper, its code, its results and its figures.

    python -m studies.NAME --data FOLDER

makes one again from the reader's copy of the data. Studies use the public functions of `bayes_bias` only, and are no
part of the package.
"""
