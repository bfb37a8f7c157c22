# The voice. LANGUAGE= en, es, de or fr; VOICE= the path of a Piper voice, if there is one.
.PHONY: voice voice-check
LANGUAGE ?= en

# The environment's own LANGUAGE ("en_GB:en") is no choice of the referee's voice.
ifeq ($(origin LANGUAGE),environment)
  LANGUAGE := en
endif

voice: install  ## render the referee's phrases for LANGUAGE= into the user's cache, so that the first game need not wait
	@$(BIN)/python -m tools.voice_clips $(LANGUAGE) $(if $(VOICE),--piper "$(VOICE)") $(ARGS)

voice-check: install  ## how many of the spoken phrases are understood in noise, and how even and clean the sound is (minutes)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.voice_check $(ARGS)
