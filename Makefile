# The two commands of the README are `make demo` and `make test`; both set up .venv by themselves.
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test lint types docs unit container parser bench clean
help: ## What can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

$(STAMP): pyproject.toml tools/dev-env.sh
	@sh tools/dev-env.sh $(VENV)
	@touch $@

demo: $(STAMP) ## Scaffold a repository, render its workflow, and run it on this machine: green, red, and no GPU
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/demo.py

test: lint types docs unit ## Everything that needs no container, GPU or engine (what CI runs)

lint: $(STAMP) ## Ruff, and the linters for our own actions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml actions/*/action.yml
	$(BIN)/zizmor --offline --quiet --no-progress --config .github/zizmor.yml action.yml actions

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

docs: $(STAMP) ## Generated pages are current, links and commands in the docs are real
	$(BIN)/python tools/check_docs.py

unit: $(STAMP) ## pytest: unit, integration, and act on this host
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n 2 -m "not container and not gpu and not npm"

container: $(STAMP) ## act inside a podman container with stand-ins for /dev/kfd and /dev/dri (see docs/local-runs.md)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -m container

parser: $(STAMP) ## GitHub's own workflow parser (npm) on the rendered workflows
	npm install --silent --no-fund --no-audit --prefix $(VENV)/parser @actions/workflow-parser@0.3.61
	ROCM_CI_WORKFLOW_PARSER="$(CURDIR)/$(VENV)/parser" PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -m npm

bench: $(STAMP) ## Speed, as ratios within one run
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/bench_render.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/bench_plan.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/bench_hipify.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/bench_vram_sample.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/bench_vram_probe.py
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/sim_regression.py --trials 500

clean: ## Remove what make made
	rm -rf $(VENV) build dist demo
