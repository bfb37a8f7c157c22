# A day at one table. CARDS= sets how long it is: make soak CARDS=20000
.PHONY: soak
soak: CARDS = 200000
soak: install  ## a simulated day: memory flat, record and pictures under their caps (some half an hour)
	$(BIN)/python -m tests.soak --cards $(CARDS)
