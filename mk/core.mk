# More of the core's tests than a normal run has time for.
.PHONY: games fuzz
N ?= 2000

games: install  ## N random games under random house rules against a plain model of the cards, and shuffled
	GAMES=$(N) $(BIN)/python -m pytest -q tests/rules/test_machine.py tests/engine/test_arrival.py

fuzz: install  ## N damaged logs and house-rule files: never a traceback
	FUZZ=$(N) $(BIN)/python -m pytest -q -s tests/cli/test_fuzz.py
