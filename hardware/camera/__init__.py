"""Cameras: the Pi's, USB, network, files, and a camera in a separate process."""
