"""Sound: clips of speech, mixed on one line of time, played through one stream."""
