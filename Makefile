# Needs Python 3.10 or newer and make. Variables: PYTHON=python3.12 VENV=folder TESTS=tests/unit JOBS=1 NAME=build
PYTHON ?= python3
VENV ?= .venv
TESTS ?= tests
JOBS ?= auto
# Each worker starts servers of its own; a server that was given is one, whose database every test empties.
SERVER_JOBS := $(if $(PKG_TEST_NEO4J_URI),0,2)
NAME ?=

BIN := $(VENV)/bin
# An environment of their own: what the frameworks bring changes how pytest runs, and is wanted nowhere else.
FRAMEWORKS := $(VENV)/integrations
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CODE := $(wildcard pkg tests checks benchmarks examples training)

# What `make try` asks of the package rich and of PKG itself, and what answers: the file and the qualified name.
QUESTION_1 := parse a color from a hex string
ANSWER_1 := color.py, parse_rgb_hex
QUESTION_2 := guess the lexer from the file name
ANSWER_2 := syntax.py, Syntax.guess_lexer
QUESTION_3 := group matches of the same score
ANSWER_3 := retrieval/search.py, _group_scores

# Tests and builds start hundreds of Pythons: each would compile everything anew where none may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install try test test-all test-servers test-models test-integrations test-docker test-browser lint bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

install: $(VENV)/dev.stamp ## install PKG and its tools, pinned, in .venv

try: export PKG_STORE := sqlite:///$(abspath $(VENV))/try.db
try: $(VENV)/run.stamp ## build a graph of real code and ask it three questions
	$(BIN)/pkg build "$$($(BIN)/python -c 'import rich; print(rich.__path__[0])')" --source rich --no-json
	$(BIN)/pkg build pkg --source pkg --no-json
	@echo; echo 'Expected: $(ANSWER_1)'
	$(BIN)/pkg query '$(QUESTION_1)' --source rich --top-k 1 --no-json
	@echo; echo 'Expected: $(ANSWER_2)'
	$(BIN)/pkg query '$(QUESTION_2)' --source rich --top-k 1 --no-json
	@echo; echo 'Expected: $(ANSWER_3)'
	$(BIN)/pkg query '$(QUESTION_3)' --source pkg --top-k 1 --no-json

test: $(VENV)/dev.stamp ## run the quick tests (offline, a few minutes), JOBS at a time
	$(BIN)/python -m pytest $(TESTS) -n $(JOBS) --dist loadfile

test-all: $(VENV)/dev.stamp ## run the quick tests and the slow ones: long random searches, huge inputs
	$(BIN)/python -m pytest $(TESTS) -n $(JOBS) --dist loadfile -m 'not server and not model and not docker and not browser and not inspect and not integrations'

test-servers: $(VENV)/servers.stamp ## run the tests that start Neo4j servers (needs Java 17 and 21 or newer, Maven the first time)
	$(BIN)/python -m pytest $(TESTS) -m server -n $(SERVER_JOBS) --dist loadfile

test-models: $(VENV)/models.stamp ## run the tests of real models (fetches 0.5 GB the first time)
	$(BIN)/python -m pytest $(TESTS) -m 'model and not integrations'

# Plugins of pytest that come with the frameworks' own tests are left out, and their warnings are theirs.
test-integrations: $(FRAMEWORKS)/integrations.stamp ## run the tests of the frameworks (installs 1.1 GB and fetches a model the first time)
	PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(FRAMEWORKS)/bin/python -m pytest $(TESTS) -m integrations -p anyio -W default

test-docker: $(VENV)/servers.stamp ## run the hostile programs on Docker (as root starts a daemon where none answers)
	checks/with_docker.sh $(BIN)/python -m pytest $(TESTS) -m docker

test-browser: $(VENV)/dev.stamp ## use the pages for people in Chromium (which must be installed)
	$(BIN)/python -m pytest $(TESTS) -m browser

lint: $(VENV)/dev.stamp ## check style, types, layers, doors and docs
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/unit/test_doors.py tests/unit/test_docs.py tests/unit/test_purity.py

bench: $(VENV)/bench.stamp ## list the benchmarks; NAME=build runs one
	@$(BIN)/python $(if $(NAME),benchmarks/$(NAME).py,checks/list_benchmarks.py)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v >= (3, 10) or sys.exit("Python %d.%d found, \
	3.10 or newer expected; run: make PYTHON=python3.13" % v)'
	$(PYTHON) -m venv $(VENV)

# The build backend is pinned and installed first, so that PKG itself is installed without a download.
$(VENV)/run.stamp: pyproject.toml requirements/build.txt requirements/run.txt | $(VENV)/bin/python
	$(PIP) install -r requirements/build.txt -r requirements/run.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements/dev.txt
	$(PIP) install -r requirements/dev.txt
	@touch $@

$(VENV)/bench.stamp: $(VENV)/dev.stamp requirements/bench.txt
	$(PIP) install -r requirements/bench.txt
	@touch $@

$(VENV)/models.stamp: $(VENV)/dev.stamp requirements/models.txt
	$(PIP) install -r requirements/models.txt
	@touch $@

$(FRAMEWORKS)/integrations.stamp: $(VENV)/run.stamp requirements/dev.txt requirements/integrations.txt
	$(BIN)/python -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip --disable-pip-version-check --quiet install -r requirements/build.txt -r requirements/integrations.txt
	$(FRAMEWORKS)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

# A ready file spares the 0.5 GB: make test-models PKG_TEST_MODEL=coder.gguf
ifndef PKG_TEST_MODEL
test-models test-integrations: $(VENV)/models/coder.gguf
test-integrations: export PKG_TEST_MODEL := $(abspath $(VENV)/models/coder.gguf)
endif

$(VENV)/models/coder.gguf: | $(VENV)/bin/python
	$(BIN)/python checks/fetch_model.py $@

$(VENV)/servers.stamp: $(VENV)/dev.stamp requirements/servers.txt
	$(PIP) install -r requirements/servers.txt
	@touch $@
