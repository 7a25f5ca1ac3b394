# Each target sets up all it needs in .venv; a machine with Python and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= data
JOBS ?= auto
OUT ?= experiments/study
MINUTES ?= 60
RUNS ?= 1000000
SAMPLE ?= 60
# The oldest versions have no wheels for newer Pythons.
OLDEST := .venv-oldest
OLDEST_PYTHON ?= python3.11
READERS := tests/readers tests/contracts/test_every_reader.py tests/estimators/test_boosters_explained.py

.PHONY: demo test test-exports test-quick test-oldest test-system test-kill test-spark test-gpu coverage soak soak-oldest mutants fuzz lint bench bench-against bench-scale table-s2 table-covers table-orlib table-rcboost table-frontier docs docs-browser docs-links docs-quick release recipe clean

demo: $(VENV)/core  ## explain a forest on embedded data, show the rules, write the report
	$(BIN)/rulecover demo

test: $(VENV)/test  ## every test, doctests included
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test-quick: $(VENV)/test  ## the tests that are not slow, with few random models
	$(BIN)/python -m pytest -n $(JOBS) tests -m "not slow" --models 3 --files 30 --hypothesis-profile quick

test-oldest: $(OLDEST)/test  ## the readers of models and every estimator, with the oldest versions that are allowed
	$(OLDEST)/bin/python -m pytest -n $(JOBS) -W ignore $(READERS) tests/golden tests/test_public_names.py --models 20 --files 100

coverage: $(VENV)/coverage  ## the share of all branches that the tests take, and the files with most that are missed
	$(BIN)/python -m coverage erase
	-$(BIN)/python -m coverage run -m pytest -n $(JOBS) --dist worksteal --timeout 1500 --models 3 --files 30 --hypothesis-profile quick -k "not ctrl_c"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage json --quiet -o .coverage/branches.json
	$(BIN)/python tests/support/branches.py .coverage/branches.json

mutants: $(VENV)/mutants  ## a sample of small changes of the code, each of which a test should notice: make mutants SAMPLE=100 SEED=2
	$(BIN)/python tests/mutants/mutants.py --sample $(SAMPLE) --seed $(or $(SEED),1) --jobs $(JOBS)

fuzz: $(VENV)/fuzz  ## 10,000 random models of each library, 10,000 damaged files of each format, a million texts per loader
	$(BIN)/python -m pytest -n $(JOBS) $(READERS) -k "random_models or damaged_files" --models 10000 --files 10000 --timeout 0
	$(BIN)/python tests/fuzz/fuzz.py --runs $(RUNS)

soak: $(VENV)/test  ## random data, models, settings, views and exports: make soak MINUTES=60 JOBS=2 SEED=1
	$(BIN)/python tests/soak/soak.py --minutes $(MINUTES) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

soak-oldest: $(OLDEST)/soak  ## the same with the oldest versions that are allowed
	$(OLDEST)/bin/python tests/soak/soak.py --minutes $(MINUTES) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

test-kill: $(VENV)/test  ## end every kind of work TIMES=100 times each by kill -9, SIGTERM, Ctrl-C and a full disk, and let it go on
	$(BIN)/python tests/support/kill.py --times $(or $(TIMES),100)

test-system: $(VENV)/system  ## exports in PostgreSQL, node and Java, the report in Chromium; says what is missing
	$(BIN)/python -m pytest tests/system --ignore tests/system/test_jpmml.py
	$(BIN)/python -m pytest tests/system/test_jpmml.py  # in a process of its own: Java does not go well with LAPACK

test-exports: $(VENV)/system  ## every export on MODELS=210 random models of each kind, where make test takes some of 120
	RANDOM_MODELS=$(or $(MODELS),210) $(BIN)/python -m pytest -n $(JOBS) --timeout 0 tests/contracts/test_every_export.py tests/export/test_export_mixed_tables.py tests/system/test_postgres.py tests/system/test_node.py
	RANDOM_MODELS=$(or $(MODELS),210) $(BIN)/python -m pytest --timeout 0 tests/system/test_jpmml.py

test-gpu: $(VENV)/test  ## covers and predictions of rows on an NVIDIA GPU; says what is missing
	$(BIN)/python -m pytest tests/on_gpu

test-spark: $(VENV)/spark  ## rules counted in a local Spark; needs Java
	$(BIN)/python -m pytest tests/spark

lint: $(VENV)/lint  ## format, lint, types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/test  ## timed pieces, as ratios to a named baseline
	$(BIN)/python benchmarks/rcboost.py
	$(BIN)/python benchmarks/rulepath.py
	$(BIN)/python benchmarks/run.py $(if $(wildcard $(DATA)/magic.csv),--data $(DATA))

bench-against: $(VENV)/test  ## the same pieces with an earlier version: make bench-against BASE=commit
	$(BIN)/python benchmarks/against.py $(BASE)

bench-scale: $(VENV)/test  ## Parquet files larger than memory (ROWS="100000 50000000"), Dask (DASK_ROWS), certify (PROOF rows), engines, RCBoost, peers
	$(BIN)/python benchmarks/scale.py --rows $(or $(ROWS),100000 1000000)
	$(BIN)/python benchmarks/scale_dask.py --rows $(or $(DASK_ROWS),250000 2000000) --model
	$(BIN)/python benchmarks/certify.py --proof $(or $(PROOF),1000000)
	$(BIN)/python benchmarks/predict.py --engines
	$(BIN)/python benchmarks/rcboost.py --only a b c
	$(BIN)/python benchmarks/peers_scale.py

table-s2: $(VENV)/study  ## Table S.2 of the paper: make table-s2 DATA=folder
	$(BIN)/rulecover study mirco --data $(DATA) --out $(OUT) --resume

table-covers: $(VENV)/core  ## greedy, search and exact over the data sets: make table-covers DATA=folder
	$(BIN)/python experiments/covers.py --data $(DATA)

table-orlib: $(VENV)/core  ## the same over set covering problems of OR-Library, next to HiGHS: make table-orlib DATA=folder
	$(BIN)/python experiments/orlib.py --data $(DATA)

table-rcboost: $(VENV)/study  ## Table S.3 of the paper: make table-rcboost DATA=folder
	$(BIN)/rulecover study rcboost --data $(DATA) --out $(OUT) --resume

table-frontier: $(VENV)/core  ## accuracy of rule paths of every size: make table-frontier DATA=folder
	$(BIN)/python experiments/frontier.py --data $(DATA)

docs: $(VENV)/docs  ## the site in docs/_build/html: examples and case studies are run, warnings are errors, links are checked
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --fresh-env docs docs/_build/html
	$(BIN)/python -m pytest tests/site/test_site.py

docs-browser: $(VENV)/docs $(VENV)/system  ## the site that make docs has built, in Chromium
	$(BIN)/python -m pytest -o pythonpath=tests/system tests/site/test_site_in_browser.py

docs-links: $(VENV)/docs  ## links of the pages to the web; needs a network, which the gate has not
	$(BIN)/python -m sphinx --builder linkcheck --keep-going -D plot_gallery=0 docs docs/_build/links

docs-quick: $(VENV)/docs  ## the same pages and checks of links, without running the gallery, the case studies and the tutorial
	$(BIN)/python -m sphinx --quiet --builder html --fail-on-warning --keep-going --fresh-env -D plot_gallery=0 docs docs/_build/quick
	SITE=quick $(BIN)/python -m pytest tests/site/test_site.py -k "not tutorial"

release: $(VENV)/release  ## build and check what is published, and try it in a new environment
	.ci/release $(BIN)/python

recipe: $(VENV)/recipe  ## build and try the conda recipe with a channel made of this Python and wheels of PyPI
	rm -rf build/recipe
	$(BIN)/python recipe/local_channel.py build/recipe

$(VENV)/core: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/study: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[study]'
	touch $@

$(VENV)/test: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,binned,xgboost,lightgbm,catboost]'
	touch $@

$(OLDEST)/test: pyproject.toml tests/oldest.txt
	test -x $(OLDEST)/bin/python || $(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable '.[xgboost,lightgbm,catboost,polars]' pytest pytest-xdist pytest-timeout hypothesis \
		--constraint tests/oldest.txt
	touch $@

# What tables, exports and plots need beside.
$(OLDEST)/soak: $(OLDEST)/test
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable '.[plot,sql,onnx,parquet,excel]' duckdb onnxruntime --constraint tests/oldest.txt
	touch $@

$(VENV)/system: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[system]'
	touch $@

$(VENV)/spark: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	touch $@

$(VENV)/fuzz: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	touch $@

$(VENV)/coverage: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[coverage]'
	touch $@

$(VENV)/mutants: $(VENV)/system  # the tests of exports in node and Java are among those that try mutants
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	touch $@

$(VENV)/lint: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lint]'
	touch $@

$(VENV)/docs: $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

$(VENV)/release: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	touch $@

$(VENV)/recipe: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[recipe]'
	touch $@

clean:
	rm -rf build dist docs/_build docs/api docs/cases docs/gallery docs/results $(VENV) $(OLDEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis
