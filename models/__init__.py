"""The models: turn pictures into cards and events with a confidence."""
