"""What people hear and see at the table: the voice, the lights, the terminal."""
