"""Thin shells over real devices, and simulated devices behind the same ports."""

import os

# lgpio leaves a pipe in the folder in which it is imported.
os.environ.setdefault("LG_WD", os.environ.get("TMPDIR", "/tmp"))
