"""The pads and a camera on a real kernel, in a virtual machine (tools/vm): `make vm-test`.

What runs inside is this package: `python -m tests.vm`. docs/timing.md says what it showed.
"""
