"""What the eye believes: arrays in, cards and events with their confidence out."""

import os

# Newer onnxruntimes make an identity for this machine in its user's home as soon as they are imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
