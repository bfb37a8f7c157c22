# The page's guard, longer than a normal run has time for.
.PHONY: page-fuzz

page-fuzz: install  ## N made-up requests for each route of the page, ours and schemathesis': never a 5xx, no change without pairing (20 minutes)
	PAGE_FUZZ=$(if $(filter command line,$(origin N)),$(N),3000) $(BIN)/python -m pytest -q -s tests/web/test_control_surface.py
	$(BIN)/python -m tools.measure.page_fuzz --examples $(if $(filter command line,$(origin N)),$(N),60) $(ARGS)
