.PHONY: voice voice-check

voice: install  ## render the referee's phrases into the user's cache, so that the first game need not wait
	@$(BIN)/python -c "from hardware.speaker import open_speaker; from referee.app.voice import VOCABULARY; v = open_speaker(VOCABULARY, progress=lambda done, count: print(f'\r{done} of {count} clips', end='', flush=True)); print(f'\n{v.words}'); v.speaker.close()"

voice-check: install  ## how many of the spoken phrases a recogniser understands (some minutes)
	@$(BIN)/python -m tests.hardware.test_voice_understood
