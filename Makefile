# make serve   an environment, the service in it, and examples/orders.md on 127.0.0.1:8080
# make test    an environment with the test tools, and the test suite: minutes. DEAR=all with every test that costs much
# make test-costs   the same, and the CPU seconds that each file and each test took
# make test-long   what the suite takes samples of: hours. SLICE=7 takes one slice of 200, SLICE=tree that of the commit
# make test-postgresql   the tests over PostgreSQL, with each version of 15 to 18 that is here, and says which are not
# make agreement   of it, the service and the reference interpreter, and more: a million random requests, 2,400 contracts of expressions
# make durability   of it, the tests that kill the service and PostgreSQL, and more: 300 kills of each kind, 100,000 events
# make mutations   of it, and more: a hundred thousand changes of all contracts, each compiled, planned, explained
# make honesty   of it, and more: every fact of every complete contract taken away, one at a time (docs/honesty.md), and what diff says of each
# make planted   forty defects of the compiler, chosen by chance: which of them the tests find
# make bench-cli BASE=REV   what commands cost, beside the same at another commit: see benchmarks/cli.py
# make bench   requests a second and CPU beside FastAPI, Litestar, Fastify and a C program, into docs/benchmarks.md
# make profile   CPU of a request without a socket, by function; ARGS="--base REV" beside another commit: benchmarks/door.py
# make growth   CPU of a request as contracts, rows, connections, events and who hears of them become more, and memory: into docs/benchmarks.md
# make check   formatting, lint, import laws and types; .ci/run does this and the tests
#
# Everything is installed into $(VENV) from the lock, by hash; a second run installs nothing.
# Written for GNU make 3.81, which macOS has.

VENV ?= .venv
BIN := $(VENV)/bin
LISTEN ?= 127.0.0.1:8080
CONTRACT ?= examples/orders.md
UV ?= uv

# The first Python on the PATH that is new enough; `make PYTHON=…` names another.
SUITABLE := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c '$(SUITABLE)' 2>/dev/null && { echo "$$python"; break; }; done)

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help serve test test-costs test-long test-postgresql agreement durability mutations honesty planted bench bench-cli profile growth check lint types format docs lock clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

serve: $(VENV)/.serve
	$(BIN)/ninefold serve $(CONTRACT) --listen $(LISTEN) --development-issuer $(ARGS)

# Four workers for each core of the machine; `make test ARGS="tests/syntax -x"` runs a part. A test that does not end in
# so many seconds fails, and tells where each of its threads is.
WORKERS ?= auto
SECONDS := 600
SUITE = $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --timeout $(SECONDS) -p tests.progress

# What is compiled of the sources and of the tests is kept, for the programs that tests start and for the next run,
# whatever the environment says: without it each `ninefold` takes a second of CPU until it begins.
test test-costs test-long test-postgresql agreement durability mutations honesty planted: export PYTHONDONTWRITEBYTECODE :=

# Which sample, and which part of the long run: tests/slices.py.
ifdef SLICE
test test-costs: export NINEFOLD_SLICE := $(SLICE)
endif
# Tests that cost much take turns, of which a run takes one unless it is asked for all, or for those of a place.
DEAR ?= $(if $(ARGS),all,some)
test: export NINEFOLD_DEAR := $(DEAR)
test: $(VENV)/.test
	$(SUITE) $(ARGS)

test-costs: $(VENV)/.test
	$(SUITE) -p tests.costs $(ARGS)

# `make test POSTGRESQL=15` takes that version (tests/postgresql/versions.py).
ifdef POSTGRESQL
test test-costs test-long: export NINEFOLD_POSTGRESQL := $(POSTGRESQL)
endif
test-postgresql: $(VENV)/.test
	$(BIN)/python -m tests.postgresql.versions $(SUITE) -k postgresql $(ARGS)

test-long agreement durability mutations honesty: SECONDS := 14400
test-long agreement durability mutations honesty: export NINEFOLD_LONG := 1
test-long agreement durability mutations honesty: export NINEFOLD_SLICE := $(or $(SLICE),all)
test-long: $(VENV)/.test
	$(SUITE) -m long $(ARGS)

# What is drawn by chance the long run repeats seldom, and these as often as is told where it is (`many`, tests/slices.py).
agreement durability mutations honesty: export NINEFOLD_WHOLE := 1

# `make agreement NINEFOLD_REQUESTS=5000000` compares more often; each day begins with other seeds.
agreement: $(VENV)/.test
	$(SUITE) -m long tests/agreement $(ARGS)

# `make durability NINEFOLD_KILLS=1000` kills more often, and NINEFOLD_EVENTS says how many there are.
durability: $(VENV)/.test
	$(SUITE) -m long tests/faults tests/events tests/cli/test_readers.py tests/postgresql $(ARGS)

# `make mutations NINEFOLD_SEED=…` repeats a run, and NINEFOLD_MUTATIONS says how many there are.
mutations: $(VENV)/.test
	$(SUITE) -m long tests/mutations tests/diagnostics/test_single_mistakes.py $(ARGS)

honesty: $(VENV)/.test
	$(SUITE) -m long tests/honesty tests/laws/test_removals.py tests/diff/test_soundness.py \
		tests/diff/test_witness.py $(ARGS)

BASE ?= HEAD
bench-cli: $(VENV)/.serve
	$(BIN)/python benchmarks/cli.py $(BASE) $(ARGS)

# Needs wrk, and httptools, which is of the tests; what of npm, a C compiler and the registries is there decides who can be compared.
bench: $(VENV)/.test
	$(BIN)/python benchmarks/peers.py $(ARGS)

growth: $(VENV)/.serve
	$(BIN)/python benchmarks/growth.py $(ARGS)

profile: $(VENV)/.serve
	$(BIN)/python benchmarks/door.py $(ARGS)

# `make planted NINEFOLD_SEED=…` plants others, NINEFOLD_PLANTED_COUNT as many.
planted: $(VENV)/.test
	WORKERS=$(if $(filter auto,$(WORKERS)),,$(WORKERS)) $(BIN)/python -m tests.planted

check: lint types

lint: $(VENV)/.test
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.test
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

docs: $(VENV)/.serve
	$(BIN)/python -m ninefold.docs

# Needs uv (`make lock UV=…`). Pins stay as they are unless pyproject.toml asks for another, or ARGS=--upgrade.
COMPILE = $(UV) pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes \
	--annotation-style line --custom-compile-command "make lock" --quiet $(ARGS)
lock:
	$(COMPILE) --output-file requirements.txt
	$(COMPILE) --extra test --constraint requirements.txt --output-file requirements-test.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "ninefold needs Python 3.11 or newer, and none is on the PATH;" \
		"'make PYTHON=/path/to/python3' names one." >&2; exit 1; }
	@"$(PYTHON)" -c '$(SUITABLE)' || { echo "ninefold needs Python 3.11 or newer, and this is" \
		"$$("$(PYTHON)" --version 2>&1)." >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -f $@; echo "The environment could not be made;" \
		"on Debian and Ubuntu 'apt install python3-venv' adds what is missing." >&2; exit 1; }

# The project itself goes in last, editable, built by the backend that the lock has just installed.
$(VENV)/.serve: requirements.txt pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements.txt
	$(INSTALL) --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements-test.txt $(VENV)/.serve
	$(INSTALL) --require-hashes -r requirements-test.txt
	@touch $@
