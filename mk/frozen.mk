# Outputs that must not change unless somebody means it. Whoever means it: make frozen ARGS=--write, and commit that too.
.PHONY: frozen

frozen: install  ## the commands answer fixed logs, pictures, sequences and mistakes as they did (ARGS=--write: from now on so)
	$(BIN)/python tools/frozen.py $(ARGS)
