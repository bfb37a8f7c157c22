"""A table told to an MQTT broker: rulings, state, discovery."""
