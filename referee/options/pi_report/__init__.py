"""A report about the machine, for people who own a Raspberry Pi and want to help: one zip without names."""
