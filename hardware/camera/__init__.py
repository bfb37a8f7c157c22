"""Cameras: the Pi's, USB, files, and a camera in a process of its own."""
