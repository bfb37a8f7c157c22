"""Sound: clips of speech, mixed on one timeline and played through one stream."""
