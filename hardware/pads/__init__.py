"""Pads: from the kernel's stamped edge to a slap."""
