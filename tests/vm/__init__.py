"""The pads and a camera on a real kernel, in a virtual machine (tools/vm): `make vm-test`.

This package runs inside: `python -m tests.vm`. docs/figures.md has the results.
"""
