# How a layer is packed. `sam build` runs a layer's Makefile in a copy of its folder, with ARTIFACTS_DIR naming
# where the layer's content goes; what is installed under python/ there is importable in Lambda from /opt/python.

LAYERS := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
ROOT := $(abspath $(LAYERS)/..)
PYTHON := $(ROOT)/.venv/bin/python
SITE = $(ARTIFACTS_DIR)/python

# SAM does not tell a makefile which architecture it builds for; `make build` does.
ARCHITECTURE ?= arm64
MACHINE := $(if $(filter arm64,$(ARCHITECTURE)),aarch64,x86_64)

# Wheels of the Lambda runtime, whatever machine this is. Neither tag of manylinux includes the other.
FOR_LAMBDA := --only-binary=:all: --implementation cp --python-version 3.13 --ignore-requires-python \
	--platform manylinux_2_28_$(MACHINE) --platform manylinux2014_$(MACHINE)

INSTALL = $(PYTHON) -m pip install --quiet --no-deps --no-compile --target "$(SITE)"

# Never used there, and counts against the limit of 250 MB: scripts, tests, caches, type stubs, lists of files and parts.
PRUNE = rm -rf "$(SITE)/bin" && find "$(SITE)" \
	\( -name tests -type d -o -name __pycache__ -o -name '*.pyi' -o -path '*.dist-info/RECORD' -o -path '*.dist-info/sboms' \) -prune -exec rm -rf {} +
