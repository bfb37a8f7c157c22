"""Simulated pads, lights, cameras and speakers under the real shells."""
