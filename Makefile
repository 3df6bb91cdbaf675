# `make` alone prints this help. Every path here is relative, so the folder may have spaces in its name.
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run test proof bench lint format clean
PYTHON ?= python3
ARGS ?=

help: ## Print this help
	@echo "Codejury: how good is generated code in the eyes of programmers?"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: .venv/.stamp-run ## Make .venv with the pinned requirements (nothing else)
setup-dev: .venv/.stamp-dev

.venv/.stamp-run: requirements.txt constraints.txt scripts/setup
	@PYTHON="$(PYTHON)" sh scripts/setup requirements.txt
	@touch $@

.venv/.stamp-dev: requirements-dev.txt .venv/.stamp-run
	@PYTHON="$(PYTHON)" sh scripts/setup requirements-dev.txt
	@touch $@

run: setup ## Start Codejury on this machine, with a demo study the first time (PORT=8000)
	@.venv/bin/python manage.py first_run
	@exec .venv/bin/python manage.py serve

test: setup-dev ## Run every check and test, on SQLite and on PostgreSQL with Redis (ARGS="-k word")
	@exec .venv/bin/python -m scripts.test $(ARGS)

proof: setup-dev ## Run the slow proofs: published studies on the public data, crashes, load
	@exec .venv/bin/python -m scripts.proof $(ARGS)

bench: setup-dev ## Run the benchmarks behind the speed claims (ARGS="name ...")
	@exec .venv/bin/python -m benchmarks.run $(ARGS)

lint: setup-dev ## Check style and types
	@exec .venv/bin/python -m scripts.lint

format: setup-dev ## Format the Python files and mend what ruff can mend
	@.venv/bin/python -m ruff check --quiet --fix-only .
	@.venv/bin/python -m ruff format .

clean: ## Remove what the tools made; keeps .venv and your data in var/
	rm -rf .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist ./*.egg-info
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
