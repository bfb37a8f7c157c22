"""Announcements at the table: the voice, the lights, the terminal."""
