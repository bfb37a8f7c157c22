"""Pads and lights on an emulated Raspberry Pi's own pins: `make pi-test`."""
