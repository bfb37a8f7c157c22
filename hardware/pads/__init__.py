"""Pads: turn the kernel's stamped edges into slaps."""
