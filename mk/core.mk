# More of the core's tests than a normal run has time for.
.PHONY: games fuzz bench-long
N ?= 2000

games: install  ## N random games under random house rules against a plain model of the cards, and shuffled
	GAMES=$(N) $(BIN)/python -m pytest -q tests/rules/test_machine.py tests/system/test_arrival.py

fuzz: install  ## N damaged logs and house-rule files: never a traceback
	FUZZ=$(N) $(BIN)/python -m pytest -q -s tests/system/test_fuzz.py

bench-long: install  ## what replaying logs of up to a million lines costs
	$(BIN)/python -m tests.bench --lines 1000 10000 100000 1000000
