# Every target makes .venv by itself, from hash-pinned requirements. `make` alone lists them.
#   ARGS=…    goes to the command: make demo ARGS=--exit, make test ARGS="-k lease"
#   PYTHON=…  which Python >= 3.11 to build .venv with
#   WORKERS=… how many processes run the tests

.DEFAULT_GOAL := help
.PHONY: help demo test check mutate format freeze snapshot requirements clean venv venv-dev

ARGS ?=
WORKERS ?= logical
# The first that is new enough; if none is, .ci/venv.py says so.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && exit; \
	done; echo python3)
BIN := .venv/bin
UV_COMPILE := uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "%-20s %s\n", $$1, $$2 }'

demo: venv ## watch a board get its answer in the browser (ARGS=--exit: run the story and leave)
	@$(BIN)/boardreadyops demo $(ARGS)

test: venv-dev ## run all tests, on a real PostgreSQL (ARGS="-k lease" for some)
	@$(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 $(ARGS)
ifeq ($(ARGS),)
	@test ! -x /usr/lib/postgresql/15/bin/postgres || \
		{ echo "the guarded functions on PostgreSQL 15, the oldest we support"; \
		BOARDREADYOPS_TEST_POSTGRES=15 $(BIN)/python -m pytest -q -n $(WORKERS) --maxprocesses 8 tests/sql \
		--ignore=tests/sql/test_model.py --ignore=tests/sql/test_plans.py; } # these two take minutes: newest version only
endif

check: venv-dev ## style, types, import floors, house rules, frozen SQL, writers of the lifecycle
	@echo "ruff"         && $(BIN)/ruff check --quiet .
	@echo "ruff format"  && $(BIN)/ruff format --quiet --check .
	@echo "mypy"         && $(BIN)/mypy --no-error-summary
	@echo "import floors" && report=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$report"; exit 1; }
	@echo "house rules"  && $(BIN)/python -m gates
	@echo "freeze"       && $(BIN)/python -m boardreadyops.db.freeze --check
	@echo "snapshot"     && $(BIN)/python -m boardreadyops.db.snapshot --check
	@echo "lifecycle writers" && report=$$($(BIN)/boardreadyops verify transition-writers --fresh) || { echo "$$report"; exit 1; }
	@echo "all good"

mutate: venv-dev ## take one guard at a time out of the SQL functions: tests must fail (ARGS="--only close_ref")
	@$(BIN)/python -m tools.mutate $(ARGS)

format: venv-dev ## let ruff format and fix what it can
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

freeze: venv-dev ## put SQL functions into the newest migration, lock it, refresh schema.sql and the limits
	@$(BIN)/python -m boardreadyops.db.freeze
	@$(BIN)/python -m boardreadyops.db.snapshot
	@$(BIN)/python -m gates.limits --write

snapshot: venv-dev ## regenerate schema.sql from an empty database and all migrations
	@$(BIN)/python -m boardreadyops.db.snapshot

requirements: ## resolve pyproject.toml anew into requirements*.txt (needs uv)
	@$(UV_COMPILE) --group build --output-file requirements.txt
	@$(UV_COMPILE) --group dev --constraint requirements.txt --output-file requirements-dev.txt

clean: ## remove .venv and caches
	@rm -rf .venv .venv.lock .mutation .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

venv:
	@"$(PYTHON)" .ci/venv.py requirements.txt

venv-dev:
	@"$(PYTHON)" .ci/venv.py requirements-dev.txt
