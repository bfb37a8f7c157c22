"""An emulated Raspberry Pi: Debian's own kernel on QEMU's board, with contacts on its header (`make pi-test`)."""
