# Everything a newcomer needs: `make demo` and `make test`. Each target installs what it needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
APT := libgl1 libglib2.0-0 libportaudio2 flite espeak-ng
APT_TRAIN := librsvg2-bin kdegames-card-data-kf5 gnome-cards-data

.PHONY: help install apt apt-train

install: $(STAMP)  ## the virtual environment with everything that runs and tests need

apt:  ## system packages (Debian, Raspberry Pi OS); skipped when they are all here
	@missing=""; for p in $(APT); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; $(SUDO) apt-get update -q && \
	$(SUDO) apt-get install -y -q --no-install-recommends $$missing; fi

$(STAMP): pyproject.toml | apt
	test -x $(BIN)/python || $(PYTHON) -m venv --system-site-packages $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@

-include mk/*.mk
