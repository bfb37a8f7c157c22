# Everything a newcomer needs: `make demo` and `make test`. Each target installs what it needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# On a Raspberry Pi picamera2 and libcamera come from apt, so the environment must see the system's packages there.
SITE := $(shell $(PYTHON) -c 'import importlib.util as u; print("--system-site-packages" if u.find_spec("picamera2") else "")' 2>/dev/null)
APT := libgl1 libglib2.0-0 libportaudio2 flite espeak-ng python3-venv
# A browser, a broker, and filesystems of one's own: what a part of the tests is played with.
TEST_APT := chromium mosquitto fuse3
# Who has no network learns so soon.
QUICK := -o Acquire::Retries=1 -o Acquire::http::Timeout=20
PYTEST_ARGS ?= -n auto --dist worksteal

.PHONY: help install apt apt-test demo test test-all lint format bench clean

help:  ## what can be made
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sort | sed -E 's/:[^#]*## /\t/' | expand -t 18

install: $(STAMP)  ## the virtual environment with everything that running and testing need

apt:  ## the system packages (Debian, Raspberry Pi OS); does nothing when all are here
	@command -v dpkg >/dev/null || { echo "no dpkg here: install by hand what corresponds to $(APT)"; exit 0; }; \
	missing=""; for p in $(APT); do \
	dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; $(SUDO) apt-get update -q && \
	$(SUDO) apt-get install -y -q --no-install-recommends $$missing; fi

apt-test:  ## what a part of the tests needs; where it cannot be had, those say so and are skipped
	@command -v dpkg >/dev/null || exit 0; \
	missing=""; for p in $(TEST_APT); do \
	dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing for the tests:$$missing"; $(SUDO) apt-get update -q $(QUICK); \
	for p in $$missing; do \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $(QUICK) $$p || \
	echo "$$p was not installed: the tests that need it are skipped"; done; fi

$(STAMP): pyproject.toml constraints.txt | apt
	test -x $(BIN)/python || $(PYTHON) -m venv $(SITE) $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev,pi]'
	@touch $@

demo: install  ## one game at the simulated table, shown live and scored; ARGS="--seats 3 --no-pace" passes options on
	$(BIN)/referee demo $(ARGS)

test: install apt-test  ## every test of the project, with the Python at hand
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Raspberry Pi OS Bookworm ships 3.11, Trixie 3.13.
test-all:  ## the tests with Python 3.11 and 3.13
	$(MAKE) test VENV=.venv-3.11 PYTHON=$$(tools/python-of 3.11)
	$(MAKE) test VENV=.venv-3.13 PYTHON=$$(tools/python-of 3.13)

lint: install  ## types, style, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install  ## let ruff lay out the code
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format -q .

bench: install  ## what things cost on this machine
	$(BIN)/python -m tools.measure.bench

clean:  ## remove what was built
	rm -rf .venv .venv-3.11 .venv-3.13 out build *.egg-info

include tools/measure/measure.mk tools/train.mk appliance/appliance.mk
