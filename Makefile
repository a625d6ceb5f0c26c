# Needs Python 3.10 or newer and make. Variables: PYTHON=python3.12 VENV=folder TESTS=tests/unit JOBS=1 NAME=build PYTEST_OPTIONS=-x
PYTHON ?= python3
VENV ?= .venv
TESTS ?= tests
JOBS ?= auto
# Each worker starts servers of its own; a server that was given is one, whose database every test empties.
SERVER_JOBS ?= $(if $(PKG_TEST_NEO4J_URI),0,2)
MODEL_JOBS ?= 0
PYTEST_OPTIONS ?=
# Tests of names, pages and imports, which belong to the quick tests too; empty where those run anyway.
LINT_TESTS ?= tests/unit/test_doors.py tests/unit/test_docs.py tests/unit/test_purity.py
NAME ?=

BIN := $(VENV)/bin
# Environments of their own: what models, servers and frameworks bring changes what the type checker and pytest see.
ENVIRONMENTS := $(VENV)/environments
# Installs from a cache of its own, which it fills where that is empty.
INSTALL := $(BIN)/uv pip install --quiet --python
CODE := $(wildcard pkg tests checks benchmarks examples training)

# A ready file spares the 0.5 GB: make test-models PKG_TEST_MODEL=coder.gguf
FETCH_MODEL := $(if $(PKG_TEST_MODEL),,$(BIN)/python checks/fetch_model.py)

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
.PHONY: help install environments try test test-all test-full test-servers test-models test-integrations test-tuning test-docker test-cluster test-buckets test-browser pictures lint site test-site dist release bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

install: $(VENV)/dev.stamp ## install PKG and its tools, pinned, in .venv

environments: $(ENVIRONMENTS)/models.stamp $(ENVIRONMENTS)/servers.stamp $(ENVIRONMENTS)/integrations.stamp $(ENVIRONMENTS)/buckets.stamp ## install what models, servers and frameworks need
	$(FETCH_MODEL)

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
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -n $(JOBS) --dist loadfile

test-all: $(VENV)/dev.stamp ## run the quick tests and the slow ones (PYTEST_OPTIONS=--cov: with branch coverage)
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -n $(JOBS) --dist loadfile -m 'not full and not server and not model and not docker and not browser and not inspect and not integrations and not tuning and not cluster and not bucket'

test-full: export HYPOTHESIS_PROFILE := full
test-full: test-all test-servers test-models test-integrations test-tuning test-docker test-cluster test-buckets test-browser ## run everything before a release: long searches, and each store on each server
	$(ENVIRONMENTS)/models/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m 'full and model'
	$(ENVIRONMENTS)/servers/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m 'full and server' -n $(SERVER_JOBS) --dist loadfile

test-servers: $(ENVIRONMENTS)/servers.stamp ## run the tests that start Neo4j servers (needs Java 17 and 21 or newer, Maven the first time)
	$(ENVIRONMENTS)/servers/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m 'server and not full' -n $(SERVER_JOBS) --dist loadfile

test-models: $(ENVIRONMENTS)/models.stamp ## run the tests of real models (fetches 0.5 GB the first time)
	$(FETCH_MODEL)
	$(ENVIRONMENTS)/models/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m 'model and not integrations and not full' -n $(MODEL_JOBS) --dist loadfile

# Plugins of pytest that come with the frameworks' own tests are left out, and their warnings are theirs.
test-integrations: $(ENVIRONMENTS)/integrations.stamp ## run the tests of the frameworks (installs 1.1 GB and fetches a model the first time)
	$(FETCH_MODEL)
	PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(ENVIRONMENTS)/integrations/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m integrations -p anyio -W default

# Needs Python 3.11 or newer, as TRL does. The environment has no llama.cpp: tests that compare with it are left out.
test-tuning: $(ENVIRONMENTS)/tuning.stamp ## run the tests of tuning and of models through transformers (fetches 3 GB the first time)
	$(ENVIRONMENTS)/tuning/bin/python -m pytest $(PYTEST_OPTIONS) tests/tuning tests/models/test_hf_model.py -m 'tuning or (model and not slow)' -W default

test-docker: $(ENVIRONMENTS)/servers.stamp ## run the hostile programs on Docker (as root starts a daemon where none answers)
	checks/with_docker.sh $(ENVIRONMENTS)/servers/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m docker

test-cluster: $(ENVIRONMENTS)/servers.stamp ## build on the workers of a Ray cluster that the tests start here
	$(ENVIRONMENTS)/servers/bin/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m cluster

test-buckets: $(ENVIRONMENTS)/buckets.stamp ## build from a bucket of an S3 service that the tests start here
	$(ENVIRONMENTS)/buckets/bin/python -m pytest $(PYTEST_OPTIONS) tests/e2e/test_buckets.py -m bucket

test-browser: $(VENV)/dev.stamp ## use the pages for people in Chromium (which must be installed)
	$(BIN)/python -m pytest $(PYTEST_OPTIONS) $(TESTS) -m browser

pictures: $(VENV)/dev.stamp ## take the pictures of the page again (which needs Chromium)
	$(BIN)/python checks/screenshot_page.py --output docs/images

lint: $(VENV)/dev.stamp ## check style, types, layers, doors and docs
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(if $(LINT_TESTS),$(BIN)/python -m pytest $(LINT_TESTS))

# Needs Python 3.11 or newer, as zensical does.
site: $(ENVIRONMENTS)/site.stamp ## build the documentation as a site in build/site, and check its links
	$(ENVIRONMENTS)/site/bin/python checks/build_site.py

test-site: site ## search the built site in Chromium (which must be installed), without a network
	$(BIN)/python checks/search_site.py

dist: $(VENV)/dev.stamp ## build the sdist and the wheel into dist/ and check them in an empty environment
	$(BIN)/python checks/check_wheel.py --out dist

release: $(VENV)/dev.stamp ## check and build a release, without a tag; TAG=1 writes the tag, which the release workflow publishes
	$(BIN)/python checks/release.py $(if $(TAG),--tag) $(if $(TAG_EXPECTED),--expect $(TAG_EXPECTED))

bench: $(VENV)/bench.stamp ## list the benchmarks; NAME=build runs one
	@$(BIN)/python $(if $(NAME),benchmarks/$(NAME).py,checks/list_benchmarks.py)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v >= (3, 10) or sys.exit("Python %d.%d found, \
	3.10 or newer expected; run: make PYTHON=python3.13" % v)'
	$(PYTHON) -m venv $(VENV)

# The build backend is pinned and installed first, so that PKG itself is installed without a download.
$(VENV)/run.stamp: pyproject.toml requirements/build.txt requirements/run.txt | $(VENV)/bin/python
	$(BIN)/python -m pip --disable-pip-version-check --quiet install -r requirements/build.txt
	$(INSTALL) $(BIN)/python -r requirements/run.txt
	$(INSTALL) $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements/dev.txt
	$(INSTALL) $(BIN)/python -r requirements/dev.txt
	@touch $@

$(VENV)/bench.stamp: $(VENV)/dev.stamp requirements/bench.txt
	$(INSTALL) $(BIN)/python -r requirements/bench.txt
	@touch $@

$(ENVIRONMENTS)/%.stamp: requirements/%.txt requirements/dev.txt $(VENV)/run.stamp
	$(BIN)/python -m venv --without-pip $(ENVIRONMENTS)/$*
	$(INSTALL) $(ENVIRONMENTS)/$*/bin/python -r requirements/build.txt -r $<
	$(INSTALL) $(ENVIRONMENTS)/$*/bin/python --no-deps --no-build-isolation --editable .
	@touch $@
