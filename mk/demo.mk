# The simulated table. ARGS= passes options on: make demo ARGS="--seats 3 --no-pace"
.PHONY: demo demo-seeds
SEEDS ?= $(shell seq 1 20)
FIGURES ?= build/demo-seeds

demo: install  ## one game at the simulated table, shown live and scored
	$(BIN)/referee demo $(ARGS)

demo-seeds: install  ## twenty games as fast as they go, and their figures as a table
	@rm -rf $(FIGURES) && mkdir -p $(FIGURES)
	@for seed in $(SEEDS); do \
	  $(BIN)/referee demo --no-pace --seed $$seed --summary $(FIGURES)/$$seed.json $(ARGS) > $(FIGURES)/$$seed.txt \
	    || tail -n 12 $(FIGURES)/$$seed.txt; \
	done
	@$(BIN)/python -m tools.demo_figures $(FIGURES)/*.json
