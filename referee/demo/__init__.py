"""The simulated table: a whole game on simulated devices, refereed and then scored."""
