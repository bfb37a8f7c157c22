"""The table as the camera sees it: calibration, lens, light."""
