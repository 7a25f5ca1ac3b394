# Each target sets up all it needs in .venv; a machine with Python and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= data
JOBS ?= auto

.PHONY: demo test test-system lint bench table-s2 table-covers table-rcboost clean

demo: $(VENV)/core  ## explain a forest on embedded data, show the rules, write the report
	$(BIN)/rulecover demo

test: $(VENV)/test  ## every test, doctests included
	$(BIN)/python -m pytest -n $(JOBS)

test-system: $(VENV)/system  ## exports in PostgreSQL, node and Java; says what is missing
	$(BIN)/python -m pytest tests/system

lint: $(VENV)/lint  ## format, lint, types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/test  ## timed pieces, as ratios to a named baseline
	$(BIN)/python benchmarks/rcboost.py
	$(BIN)/python benchmarks/run.py $(if $(wildcard $(DATA)/magic.csv),--data $(DATA))

table-s2: $(VENV)/core  ## Table S.2 of the paper: make table-s2 DATA=folder
	$(BIN)/python experiments/table_s2.py --data $(DATA)

table-covers: $(VENV)/core  ## greedy, search and exact over the data sets: make table-covers DATA=folder
	$(BIN)/python experiments/covers.py --data $(DATA)

table-rcboost: $(VENV)/core  ## RCBoost's column of Table S.3: make table-rcboost DATA=folder
	$(BIN)/python experiments/rcboost.py --data $(DATA)

$(VENV)/core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/test: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,binned]'
	touch $@

$(VENV)/system: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[system]'
	touch $@

$(VENV)/lint: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lint]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
