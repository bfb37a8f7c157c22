"""What people may ask from afar: commands, pairing, pad words, and the socket that carries them."""
