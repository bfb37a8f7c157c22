"""The appliance as an image that boots: `make image` makes it, `make image-test` plays on it (docs/build.md)."""
