# The appliance: installed as a service that starts with the machine. DESTDIR=DIR makes a dry run into DIR.
.PHONY: install-appliance uninstall-appliance
PREFIX ?= /opt/table-referee
SETTINGS ?= table.toml
# A dry run needs no rights.
AS_ROOT := $(if $(DESTDIR),,$(SUDO))
APPLIANCE = $(AS_ROOT) env DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' SETTINGS='$(SETTINGS)' PYTHON='$(PYTHON)' \
  SITE='$(SITE)' PURGE='$(PURGE)' XDG_DATA_HOME="$${XDG_DATA_HOME:-$$HOME/.local/share}" appliance/install

install-appliance: $(if $(DESTDIR),,apt)  ## the referee as a service that starts with the machine; DESTDIR=DIR for a dry run
	@$(APPLIANCE) install

uninstall-appliance:  ## take that back; settings and games stay, unless PURGE=yes
	@$(APPLIANCE) uninstall

.PHONY: build-guide
build-guide: install  ## draw the build guide's pictures (docs/*.svg) and compute the tables of docs/build.md
	@$(BIN)/python -m tools.build_guide

.PHONY: appliance-check
appliance-check: install  ## boot this system in a container and see systemd start, watch, revive and end the referee and its page (root)
	@$(SUDO) tools/appliance-check

IMAGE_SETTINGS = ARCH BOARD SUITE MIRROR RASPBERRY KERNEL VERSION KEY ROOT_MB FRESH WORK HOTSPOT PASSWORD URL

.PHONY: image
image:  ## the appliance as an image that boots, and as an update of one, into build/image (ARCH=arm64; root; docs/build.md)
	@$(AS_ROOT) env $(foreach one,$(IMAGE_SETTINGS),$(if $($(one)),$(one)='$($(one))')) tools/image/build

.PHONY: image-test
image-test: install  ## boot the image in a virtual machine: it plays, loses its power, goes on, is updated and taken back (ARCH=arm64; BOARD=raspberry-debian: on an emulated Pi, with pads and lights; half an hour, and more beside other work)
	@$(if $(BOARD),$(BIN)/python -m tools.image.pi_check,$(BIN)/python -m tools.image.image_check --arch $(or $(ARCH),arm64))

.PHONY: pi-test
pi-test: install  ## pads and lights on the pins of an emulated Raspberry Pi 3 and 4, Python 3.11 and 3.13 (ARGS="--seeds 20 --board raspi4b")
	@nice -n 5 $(BIN)/python -m tests.pi $(ARGS)

.PHONY: pi-demo
pi-demo: install wheel  ## the wheel on an emulated Raspberry Pi 4: doctor, roll-call, slaps and lights, a demo; fails where one is wrong (a quarter of an hour, and more beside other work; ARGS=run: the game alone)
	@nice -n 5 $(BIN)/python -m tests.pi.demo $(ARGS)

.PHONY: pi-camera
pi-camera: install  ## the Pi's camera's code on picamera2 and libcamera, with a camera that needs no hardware, on an emulated Raspberry Pi 4
	@nice -n 5 $(BIN)/python -m tests.pi.camera
