# The page. ARGS= passes options on.
.PHONY: page-test page-bench
SHOTS ?= out/page

page-test: install apt-test  ## the page in a real browser: a game watched, photo-finishes, screenshots into out/page, accessibility
	SHOTS=$(SHOTS) $(BIN)/python -m pytest -q tests/web $(ARGS)

page-bench: install  ## how long a ruling takes to forty screens, and the page's memory, required against measured
	$(BIN)/python -m tools.measure.page_bench $(ARGS)
