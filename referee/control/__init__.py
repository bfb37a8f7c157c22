"""Requests that people make from afar: commands, pairing, pad words, and the socket that carries them."""
