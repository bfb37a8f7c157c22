# Mutation testing of the core: not part of `make test`. Ten minutes or so for 500 mutants on one core.
.PHONY: mutants
SEED ?= 1

mutants: install  ## N mutants of the core drawn by SEED: which of them no test notices (build/mutants)
	$(BIN)/python tools/mutants.py --count $(if $(filter command line,$(origin N)),$(N),500) --seed $(SEED)
