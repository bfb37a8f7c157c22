# How well the eye reads, how far its confidence can be relied on, and how fast it is.
PHOTOS ?= ../shared/photos

.PHONY: eval-photos eval-held-back bench-eye

eval-photos: install  ## score the eye on PHOTOS (a folder with labels.csv); out/eval-photos/report.html
	$(BIN)/python -m models.evaluation.photo_score $(PHOTOS) --report out/eval-photos

eval-held-back: install  ## score the eye on scenes of held-out decks and fonts; needs the library of make train-data
	test -f out/eye/library/meta.npy || $(MAKE) train-packages train-data
	$(BIN)/python -m models.training.heldout

bench-eye: install  ## time the networks and whole frames, one thread
	$(BIN)/python -m models.evaluation.eye_bench
