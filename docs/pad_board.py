"""Pads on a Raspberry Pi Pico (RP2040), each stamped as it closes: MicroPython. Save it on the board as main.py.

Each pad is a switch from its pin to ground, each lamp an LED with its resistor from its pin to ground. The first hand
lights its own lamp. docs/build.md has the wiring, docs/timing.md says what the lines mean.
"""

import array
import json

PINS = (2, 3, 4, 5, 6, 7, 8, 9)
LAMPS = (10, 11, 12, 13, 14, 15, 16, 17)
# All pads are released once they have been open for so long: a switch that bounces must not free the lamp.
RELEASED_US = 50_000
# Of the stamps: from the edge to the interrupt's first line, and how unlike that is from edge to edge.
ERROR_US = 50
VERSION = 1
KEPT = 256


class PadBoard:
    """Edges in, lines and one lamp out. Its arguments are the board's own clock, line, lamps and interrupts."""

    def __init__(self, pads, ticks_us, ticks_diff, write, lamp, disable_irq, enable_irq):
        self.pads = pads
        self.ticks_us = ticks_us
        self.ticks_diff = ticks_diff
        self.write = write
        self.lamp = lamp
        self.disable_irq = disable_irq
        self.enable_irq = enable_irq
        self.first = 0  # the pad that was hit first; none may be first until all are released
        self.stamps = array.array("I", [0] * KEPT)
        self.what = bytearray(KEPT)
        self.head = 0  # edges that came: an interrupt may not make objects, so all of these were made before
        self.told = 0
        self.down = set()
        self.begun = b""
        self.last = ticks_us()
        self.now = self.last  # microseconds, which never begin anew as ticks do
        self.held = self.now  # the last instant at which a pad was down
        self.greet()

    def note(self, pad, closed):
        """An edge, in the interrupt."""
        at = self.head % KEPT
        self.stamps[at] = self.ticks_us()
        self.what[at] = pad << 1 | closed
        self.head += 1
        if closed and not self.first:
            self.first = pad
            self.lamp(pad, 1)

    def release(self):
        """Make the lamp dark once all pads have been open for long enough; then the next hand is the first one."""
        if self.down:
            self.held = self.now
        elif self.first and self.now - self.held >= RELEASED_US:
            # A hand that comes between the look and the change would light nothing.
            state = self.disable_irq()
            if self.head == self.told:
                self.lamp(self.first, 0)
                self.first = 0
            self.enable_irq(state)

    def turn(self, data=b""):
        """Tell what came, and answer what was asked; often enough that ticks do not go round (8 minutes)."""
        ticks = self.ticks_us()
        self.now += self.ticks_diff(ticks, self.last)
        self.last = ticks
        self.tell_edges()
        self.release()
        self.begun += data
        while b"\n" in self.begun:
            line, _, self.begun = self.begun.partition(b"\n")
            try:
                asked = json.loads(line)
                if "ask" in asked:
                    self.answer(asked["ask"])
                elif "hello" in asked:
                    self.greet()
            except (ValueError, TypeError):
                pass
        self.begun = self.begun[-80:]

    def tell_edges(self):
        if self.head - self.told > KEPT:
            # More came than was kept: their numbers are missed at the other end.
            self.told = self.head - KEPT
        while self.told < self.head:
            at = self.told % KEPT
            us = self.now - self.ticks_diff(self.last, self.stamps[at])
            pad, closed = self.what[at] >> 1, self.what[at] & 1
            self.told += 1
            (self.down.add if closed else self.down.discard)(pad)
            self.held = self.now
            self.send({"pad": pad, "us": us, "edge": "down" if closed else "up", "n": self.told})

    def answer(self, number):
        """The clock, after every edge that came before it was read."""
        ticks = self.ticks_us()
        self.now += self.ticks_diff(ticks, self.last)
        self.last = ticks
        self.tell_edges()
        self.send({"answer": number, "us": self.now, "n": self.told, "down": sorted(self.down)})

    def greet(self):
        self.send({"hello": "pads", "version": VERSION, "pads": self.pads, "error_us": ERROR_US, "n": self.told})

    def send(self, told):
        body = json.dumps(told)[:-1].encode()
        self.write(body + f',"sum":{sum(body) & 0xFFFF}}}\n'.encode())


def main():
    import select
    import sys
    import time

    import machine
    import micropython

    # The line is ours: a byte 3 in it stops nothing.
    micropython.kbd_intr(-1)
    lamps = [machine.Pin(number, machine.Pin.OUT, value=0) for number in LAMPS]

    def lamp(pad, lit):
        lamps[pad - 1].value(lit)

    board = PadBoard(
        len(PINS),
        time.ticks_us,
        time.ticks_diff,
        sys.stdout.buffer.write,
        lamp,
        machine.disable_irq,
        machine.enable_irq,
    )

    def watch(pad, number):
        pin = machine.Pin(number, machine.Pin.IN, machine.Pin.PULL_UP)
        note = board.note

        def on_edge(pin):
            note(pad, 1 - pin.value())

        pin.irq(on_edge, machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING, hard=True)
        return pin

    pins = [watch(pad, number) for pad, number in enumerate(PINS, 1)]
    coming = select.poll()
    coming.register(sys.stdin, select.POLLIN)
    while pins:
        data = b""
        while coming.poll(0):
            data += sys.stdin.buffer.read(1)
        board.turn(data)


if __name__ == "__main__":
    main()
