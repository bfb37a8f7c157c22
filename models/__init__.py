"""The models: turn pictures into cards and events with a confidence."""

import os

# Recent versions of onnxruntime create a machine identity in the user's home on import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
