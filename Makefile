# Everything a newcomer needs: `make demo` and `make test`. Each target installs what it needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.installed
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PYTEST_ARGS ?= -n auto --dist worksteal

.PHONY: help help-all install apt apt-test demo play wheel test test-all test-mixes lock lint format bench clean language-check languages reference

NEWCOMERS := demo|play|test|wheel|install|lint|format|bench|pictures|image|rules-coverage|help-all

help:  ## the targets that a newcomer needs
	@grep -hE '^($(NEWCOMERS)):.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 20

help-all:  ## every target
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sort | sed -E 's/:[^#]*## /\t/' | expand -t 20

install: $(STAMP)  ## the virtual environment with everything that running and testing need

# An environment that was made before picamera2 was installed is mended.
SITE := $(shell $(PYTHON) -c 'import importlib.util as u; print("--system-site-packages" if u.find_spec("picamera2") else "")' 2>/dev/null)
BLIND := $(if $(SITE),$(shell grep -sl 'system-site-packages = false' $(VENV)/pyvenv.cfg))
.PHONY: $(if $(BLIND),$(RUNS))

$(RUNS): pyproject.toml $(wildcard locks/*.txt) tools/install tools/get-packages
	@PYTHON=$(PYTHON) VENV=$(VENV) SITE=$(SITE) tools/install run
	@touch $@

$(STAMP): $(RUNS)
	@PYTHON=$(PYTHON) VENV=$(VENV) tools/install test
	@touch $@

apt:  ## the system packages (Debian, Raspberry Pi OS); does nothing when all are here
	@tools/install apt

apt-test:  ## what a part of the tests needs; where it cannot be had, those say so and are skipped
	@tools/install apt-test

demo: $(RUNS)  ## one game at the simulated table, shown live and scored; ARGS="--seats 3 --no-pace" passes options on
	@$(BIN)/referee demo $(ARGS)

play: $(RUNS)  ## play tonight with a webcam, phones and keys: set up in a browser, then refereed; ARGS="--port 8000"
	@$(BIN)/referee play $(ARGS)

# Built from a copy: setuptools would mix in files that earlier builds left in build/.
wheel: $(RUNS)  ## dist/table_referee-*.whl: the program as one file, for `pipx install` or `uv tool install` on another computer
	@rm -rf build/wheel && mkdir -p build/wheel dist && rm -f dist/table_referee-*.whl
	@git ls-files -z pyproject.toml README.md LICENSE referee hardware models | xargs -0 cp --parents -t build/wheel
	@$(BIN)/python -m pip wheel -q --no-deps --wheel-dir dist build/wheel && ls -sh dist/table_referee-*.whl

test: install apt-test  ## every test of the project, with the Python at hand
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Raspberry Pi OS Bookworm ships 3.11, Trixie 3.13.
test-all:  ## the tests with Python 3.11 and 3.13
	$(MAKE) test VENV=.venv-3.11 PYTHON=$$(tools/python-of 3.11)
	$(MAKE) test VENV=.venv-3.13 PYTHON=$$(tools/python-of 3.13)

# The system's own numpy and OpenCV are older than the locked ones: here on this processor, as wheels.
BOOKWORM := numpy==1.24.2 opencv-python==4.11.0.86
TRIXIE := numpy==2.2.4 opencv-python==4.11.0.86
MIX_TESTS ?= tests/models tests/vision tests/engine tests/rules tests/hardware tests/record tests/demo

test-mixes:  ## what sees, rules and records, with the numpy and OpenCV of Debian Bookworm (Python 3.11) and Trixie (3.13)
	tools/mix .venv-bookworm 3.11 $(BOOKWORM)
	.venv-bookworm/bin/python -m pytest $(PYTEST_ARGS) $(MIX_TESTS)
	tools/mix .venv-trixie 3.13 $(TRIXIE)
	.venv-trixie/bin/python -m pytest $(PYTEST_ARGS) $(MIX_TESTS)

lock:  ## resolve locks/*.txt anew from pyproject.toml (by uv); ARGS=--upgrade takes the newest versions
	UV=$${UV:-$$(command -v uv || { $(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install -q uv && echo .venv-lock/bin/uv; })} tools/lock $(ARGS)

lint: install  ## types, style, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install  ## let ruff lay out the code
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format -q .

language-check: install  ## whether every language is whole: what its files lack, and what is wrong there; LANGUAGE=de checks one
	@$(BIN)/python -m tools.language_check $(if $(filter command line,$(origin LANGUAGE)),$(LANGUAGE))

languages: install  ## out/languages.md and out/glossary.md: rulings and the game's own words in four languages
	@$(BIN)/python -m tools.languages

reference: install  ## docs/reference.md: every command and setting
	@$(BIN)/python -m tools.reference

bench: install  ## what things cost on this machine
	$(BIN)/python -m tools.measure.bench

clean:  ## remove what was built
	rm -rf .venv .venv-3.11 .venv-3.13 .venv-bookworm .venv-trixie .venv-lock out build *.egg-info

include tools/measure/measure.mk tools/train.mk appliance/appliance.mk
