# The pads and a USB camera on a real kernel, in a virtual machine: on Debian, x86-64; no KVM is needed.
.PHONY: vm-setup vm-test vm-smoke vm-compare

vm-setup: install  ## qemu, and Debian's kernel with simulated GPIO lines, into build/vm; once, about a minute
	tools/vm/setup

vm-test: vm-setup  ## the pads, from the kernel's edge to the slap, and a USB camera: required and measured (2 to 4 minutes)
	VM_TIMEOUT=360 tools/vm/boot $(BIN)/python -m tests.vm full

vm-smoke: vm-setup  ## the same in short (half a minute)
	VM_TIMEOUT=150 tools/vm/boot $(BIN)/python -m tests.vm smoke

vm-compare: vm-setup  ## gpiod and gpiozero + lgpio as sources of edges, side by side (docs/pads.md)
	VM_TIMEOUT=360 tools/vm/boot $(BIN)/python -m tests.vm compare
