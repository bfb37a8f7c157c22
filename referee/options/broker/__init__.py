"""Publishes a table's rulings, state and discovery to an MQTT broker."""
