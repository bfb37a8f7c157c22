"""An evening at a table: devices, loop, game, pause, resume, orders, services."""
