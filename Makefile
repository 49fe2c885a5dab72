# A newcomer needs two of these: make demo, make test. All need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test slow fuzz faults torch spark audit browser axe oldest lint types format bench docs clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 10

demo: $(VENV)/core.stamp  ## the whole story on the embedded population, with a report
	@$(BIN)/reidrisk demo

test: $(VENV)/dev.stamp  ## the tests
	$(BIN)/python -m pytest -n auto

slow: $(VENV)/dev.stamp  ## the tests that take longer
	$(BIN)/python -m pytest -n auto -m slow

fuzz: $(VENV)/dev.stamp  ## thousands of spoilt inputs, and the same data written otherwise
	$(BIN)/python -m pytest -n auto -m fuzz tests/fuzz

faults: $(VENV)/dev.stamp  ## a fault of the machine at every write, rename and allocation
	$(BIN)/python -m pytest -n auto -m faults tests/faults

torch: $(VENV)-torch/torch.stamp  ## networks that are trained, one thread each; all else works without torch
	OMP_NUM_THREADS=1 $(VENV)-torch/bin/python -m pytest -n auto -m torch

spark: $(VENV)-spark/spark.stamp  ## a Spark cluster of this machine; installs Java where it may
	@$(VENV)-spark/bin/python -m tests.spark.java
	$(VENV)-spark/bin/python -m pytest -n 2 --dist loadfile -m spark

audit: $(VENV)/dev.stamp  ## known vulnerabilities of what we depend on; fails where nobody can be asked
	@{ $(PYTHON) -m venv $(VENV)-audit && $(VENV)-audit/bin/python -m pip install --quiet pip-audit; } \
	  || { echo "audit: the audit could not run: pip-audit cannot be installed" >&2; exit 2; }
	$(BIN)/python -m tests.packaging.audit $(VENV)-audit/bin/pip-audit

browser: $(VENV)/dev.stamp  ## the report in Chromium; with make axe, its accessibility too
	$(BIN)/python -m pytest -m browser tests/browser

axe: $(VENV)/axe/node_modules/axe-core/axe.min.js  ## what the accessibility check needs (by npm)

$(VENV)/axe/node_modules/axe-core/axe.min.js: | $(VENV)/bin/python
	npm install --silent --no-save --prefix $(VENV)/axe axe-core

oldest: tests/packaging/oldest.txt  ## the tests with the oldest libraries we promise to work with
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint $< --editable '.[dev]'
	NUMBA_CACHE_DIR=$(VENV)-oldest/cache $(VENV)-oldest/bin/python -m pytest -n auto

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

docs: $(VENV)/dev.stamp  ## the pages, into docs/_build
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo docs/_build/html/index.html

clean:  ## remove what the others made
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-audit $(VENV)-torch $(VENV)-spark docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "reidrisk needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plots]'
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'lifetimes>=0.11.3' \
	  || echo "no real purchases; the page that needs them is skipped"
	@touch $@ $(VENV)/core.stamp

$(VENV)-torch/torch.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,torch]'
	@touch $@

$(VENV)-spark/spark.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)-spark
	$(VENV)-spark/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,spark]'
	@touch $@
