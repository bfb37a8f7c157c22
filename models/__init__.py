"""What the eye believes: arrays in, cards and events with their confidence out."""
