# make demo       run a useful skill and a nosy one, and a script that tries to get out
# make test       what protects users: linters, types, layers, C under sanitizers, tests (14 minutes)
# make test-all   that, and the long campaigns: fuzzers, soaks, other backends, whole nightlies
# make list       the capability probes; make probes: measure them all; make run PROBE=ID: one
# make docs       the documentation as a site in build/site; dead links are errors
# make pictures   run the commands that the documentation quotes again, and redraw its pictures
# make bench      times, beside the other sandboxes that are installed
# make lint · make format · make clean
#
# Needs python3 (3.11 or later, with venv), a C compiler and make; the rest is put into .venv.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
WORKERS ?= 2
PYTEST = PATH="$(CURDIR)/$(VENV)/tools:$$PATH" $(BIN)/python -m pytest -n $(WORKERS)
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/wardian/__init__.py)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

demo: $(VENV)/.run launcher
	@rm -rf build/demo && mkdir -p build/demo && echo '{"b": 1, "a": [2, 1]}' > build/demo/data.json
	@printf 'region,amount\nnorth,10.50\nsouth,20\nnorth,1.25\n' > build/demo/sales.csv
	@echo
	@echo '$$ wardian run skills/csv-report report.py --work build/demo -- sales.csv --by region --sum amount'
	@$(BIN)/wardian run skills/csv-report report.py --work build/demo -- sales.csv --by region --sum amount
	@echo
	@echo '$$ wardian run skills/nosy-helper tidy.py --work build/demo -v -- data.json'
	@$(BIN)/wardian run skills/nosy-helper tidy.py --work build/demo -v -- data.json
	@echo
	@echo '$$ wardian exec --read examples:/demo -- python3 /demo/hostile.py'
	@$(BIN)/wardian exec --read examples:/demo --processes 64 --memory 256M --time 60s -- python3 /demo/hostile.py

test: $(VENV)/.test launcher test-launchers lint
	$(MAKE) -s -C core check
	@mkdir -p $(VENV)/tools && ln -sf ../bin/uv ../bin/uvx $(VENV)/tools/
	$(PYTEST) -m 'not long' $(PYTEST_ARGS)

test-long: $(VENV)/.test launcher test-launchers
	$(PYTEST) -m long $(PYTEST_ARGS)

test-all:
	@$(MAKE) test
	@$(MAKE) test-long

list: $(VENV)/.run launcher
	@$(BIN)/wardian probe list $(PROBE_ARGS)

probes: $(VENV)/.run launcher
	$(BIN)/wardian probe all $(PROBE_ARGS)

run: $(VENV)/.run launcher
	@test -n "$(PROBE)" || { echo "error: which one? make run PROBE=core__filesystem__tmp_write" >&2; exit 2; }
	$(BIN)/wardian probe run '$(PROBE)' $(PROBE_ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.test
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(VENV)/.run launcher
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -c tools/site -d build/site-cache . build/site
	@echo build/site/index.html

pictures: $(VENV)/.run launcher
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.pictures
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.quotes

# The launcher as the installed package finds it, rebuilt when its sources are newer; data in the
# form that loads fastest; and bytecode, which an editable install lacks where writing it is off.
launcher: $(VENV)/.run
	@$(MAKE) -s -C core OUT=../src/wardian/_bin VERSION=$(VERSION)
	@$(BIN)/python -m wardian.sandbox.compile
	@$(BIN)/python -m compileall -q src/wardian

# Launchers that only tests use: one can leave walls out, one is built with sanitizers.
test-launchers:
	@$(MAKE) -s -C core OUT=build VERSION=$(VERSION) test-launchers

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than 3.11; name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "error: $(PYTHON) has no ensurepip; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@command -v $${CC:-cc} >/dev/null || \
		{ echo "error: no C compiler; on Debian and Ubuntu: apt-get install gcc libc6-dev" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml hatch_build.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml hatch_build.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,docs]'
	@touch $@ $(VENV)/.run $(VENV)/.docs

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml hatch_build.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.run

clean:
	$(MAKE) -s -C core clean
	rm -rf $(VENV) build dist src/wardian/_bin .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help docs pictures demo test test-long test-all list probes run lint format bench launcher test-launchers clean
