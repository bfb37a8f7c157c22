.PHONY: rules-coverage

rules-coverage: install  ## docs/rules-coverage.md: which scenario proves which rule
	$(BIN)/python -m tools.rules_coverage
