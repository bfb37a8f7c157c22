/* Contacts on the header of QEMU's Raspberry Pi, whose own model of the pins has outputs only.
 *
 * Preloaded into QEMU 10: its binary exports its functions for its modules. This model lies over the pins' registers
 * and adds levels, pulls, edge detection and interrupts (BCM2711 ARM Peripherals, chapter 5); all else goes on to
 * QEMU's own. All instants are the guest's virtual time, ns.
 *
 * PI_GPIO_PLAN: a file of lines "NS PIN CLOSED", sorted, NS counted from the moment when the guest first drives pin
 *   PI_GPIO_GO high. A closed contact connects its pin to ground; an open pin follows its pull. After a line "-1 0 0"
 *   the plan waits until that pin rises again, and NS count from there.
 * PI_GPIO_LOG: what happened, a line each: "NS contact PIN CLOSED"; "NS served PIN 1" where the guest's interrupt
 *   handler acknowledges an edge; "NS output PIN LEVEL" for changes of what the guest drives. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* QEMU's types, as far as they are used here. */
typedef struct Notifier {
    void (*notify)(struct Notifier *, void *);
    void *next, **previous;
} Notifier;
typedef struct MemoryRegionOps {
    uint64_t (*read)(void *, uint64_t, unsigned);
    void (*write)(void *, uint64_t, uint64_t, unsigned);
    void *read_with_attrs, *write_with_attrs;
    int endianness;
    struct { unsigned min, max; bool unaligned; void *accepts; } valid;
    struct { unsigned min, max; bool unaligned; } impl;
} MemoryRegionOps;
typedef struct QEMUTimer {
    int64_t expire_time;
    void *list, *callback, *opaque, *next;
    int attributes, scale;
} QEMUTimer;
enum { DEVICE_NATIVE_ENDIAN = 0, QEMU_CLOCK_VIRTUAL = 1, NANOSECONDS = 1, MO_32 = 2 };
extern void qemu_add_machine_init_done_notifier(Notifier *) __attribute__((weak));
extern void memory_region_init_io(void *, void *, const MemoryRegionOps *, void *, const char *, uint64_t);
extern void memory_region_add_subregion_overlap(void *, uint64_t, void *, int);
extern uint32_t memory_region_dispatch_read(void *, uint64_t, uint64_t *, int, uint64_t);
extern uint32_t memory_region_dispatch_write(void *, uint64_t, uint64_t, int, uint64_t);
extern void *get_system_memory(void);
extern void *object_resolve_path(const char *, bool *);
extern void *sysbus_mmio_get_region(void *, int);
extern void *qdev_get_gpio_in(void *, int);
extern void *qdev_get_gpio_in_named(void *, const char *, int);
extern void qemu_set_irq(void *, int);
extern int64_t qemu_clock_get_ns(int);
extern void timer_init_full(QEMUTimer *, void *, int, int, int, void (*)(void *), void *);
extern void timer_mod_ns(QEMUTimer *, int64_t);

#define PINS 58
/* Offsets of registers; each has a second word for the pins from 32 on. */
enum {
    FSEL_FIRST = 0x00, FSEL_LAST = 0x14, SET = 0x1c, CLR = 0x28, LEV = 0x34, EDS = 0x40, REN = 0x4c, FEN = 0x58,
    HEN = 0x64, LEN = 0x70, AREN = 0x7c, AFEN = 0x88, PUD = 0x94, PUDCLK = 0x98, PULL_FIRST = 0xe4, PULL_LAST = 0xf0,
    SIZE = 0xf4,
};

static void *inner, *interrupts[4];
static uint64_t closed, pulled_up, driven, is_output;
static uint64_t events, rising, falling, high, low;
static unsigned pull_to_set;
static FILE *happened;
static int go = -1;
static bool waiting = true;

static int64_t now(void) { return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL); }
static uint64_t levels(void) { return (is_output & driven) | (~is_output & pulled_up & ~closed); }

static void detect(uint64_t before) {
    uint64_t after = levels();
    events |= (after & ~before & rising) | (before & ~after & falling) | (after & high) | (~after & low);
    qemu_set_irq(interrupts[0], (events & 0x000000fffffffull) != 0);
    qemu_set_irq(interrupts[1], (events & 0x03ffff0000000ull) != 0);
    qemu_set_irq(interrupts[2], (events & 0x3ffc00000000000ull) != 0);
    qemu_set_irq(interrupts[3], events != 0);
}

/* The plan. */
static struct { QEMUTimer timer; FILE *file; int64_t from, due; int pin, closes; } plan;

static void await_next(void) {
    long long ns;
    if (fscanf(plan.file, "%lld %d %d", &ns, &plan.pin, &plan.closes) != 3) return;
    if ((waiting = ns < 0)) return;
    plan.due = plan.from + ns;
    timer_mod_ns(&plan.timer, plan.due);
}
static void play_due(void *unused) {
    uint64_t before = levels(), bit = 1ull << plan.pin;
    fprintf(happened, "%lld contact %d %d\n", (long long)now(), plan.pin, plan.closes);
    closed = plan.closes ? closed | bit : closed & ~bit;
    detect(before);
    await_next();
}

/* The registers. */
static uint64_t *pair_at(uint64_t at) {
    switch (at & ~3ull) {
    case REN: case REN + 4: return &rising;
    case FEN: case FEN + 4: return &falling;
    case HEN: case HEN + 4: return &high;
    case LEN: case LEN + 4: return &low;
    }
    return NULL;
}
static bool is_second(uint64_t at) {
    return at == SET + 4 || at == CLR + 4 || at == LEV + 4 || at == EDS + 4 || at == REN + 4 || at == FEN + 4 ||
           at == HEN + 4 || at == LEN + 4 || at == PUDCLK + 4;
}
static uint64_t read_register(void *unused, uint64_t at, unsigned size) {
    int shift = is_second(at) ? 32 : 0;
    uint64_t value = 0;
    if (at == LEV || at == LEV + 4) return (uint32_t)(levels() >> shift);
    if (at == EDS || at == EDS + 4) return (uint32_t)(events >> shift);
    if (pair_at(at)) return (uint32_t)(*pair_at(at) >> shift);
    if (at >= AREN && at < PUD) return 0;
    memory_region_dispatch_read(inner, at, &value, MO_32, 0);
    return value;
}
static void drive(uint64_t pins, bool level) {
    uint64_t before = levels(), changed = is_output & pins & (level ? ~driven : driven);
    driven = level ? driven | pins : driven & ~pins;
    for (int pin = 0; pin < PINS; pin++)
        if (changed >> pin & 1) fprintf(happened, "%lld output %d %d\n", (long long)now(), pin, level);
    detect(before);
    if (waiting && go >= 0 && level && changed >> go & 1) {
        waiting = false;
        plan.from = now();
        if (plan.file) await_next();
    }
}
static void pull(uint64_t pins, bool up) {
    uint64_t before = levels();
    pulled_up = up ? pulled_up | pins : pulled_up & ~pins;
    detect(before);
}
static void serve(uint64_t pins) {
    for (int pin = 0; pin < PINS; pin++)
        if (events & pins & 1ull << pin) fprintf(happened, "%lld served %d 1\n", (long long)now(), pin);
    events &= ~pins;
}
static void write_register(void *unused, uint64_t at, uint64_t value, unsigned size) {
    int shift = is_second(at) ? 32 : 0;
    uint64_t bits = (value & 0xffffffff) << shift, before = levels();
    if (at == SET || at == SET + 4) drive(bits, true);
    else if (at == CLR || at == CLR + 4) drive(bits, false);
    else if (at == EDS || at == EDS + 4) { serve(bits); detect(before); return; }
    else if (pair_at(at)) {
        uint64_t *detects = pair_at(at);
        *detects = (*detects & (shift ? 0xffffffffull : ~0xffffffffull)) | bits;
        detect(before);
        return;
    } else if (at >= AREN && at < PUD) return;
    else if (at <= FSEL_LAST) {
        for (int pin = at / 4 * 10; pin < (int)at / 4 * 10 + 10 && pin < PINS; pin++) {
            uint64_t bit = 1ull << pin;
            is_output = (value >> 3 * (pin % 10) & 7) == 1 ? is_output | bit : is_output & ~bit;
        }
        detect(before);
    } else if (at == PUD) pull_to_set = value & 3; /* BCM2835: a pull, and then the pins that take it */
    else if (at == PUDCLK || at == PUDCLK + 4) pull(bits, pull_to_set == 2);
    else if (at >= PULL_FIRST && at <= PULL_LAST) /* BCM2711: two bits a pin */
        for (int pin = (at - PULL_FIRST) / 4 * 16, end = pin + 16; pin < end && pin < PINS; pin++)
            pull(1ull << pin, (value >> 2 * (pin % 16) & 3) == 1);
    memory_region_dispatch_write(inner, at, value, MO_32, 0);
}

/* A device that QEMU does not have reads as 0: the kernel would stop at the bus error. */
static uint64_t read_nothing(void *unused, uint64_t at, unsigned size) { return 0; }
static void write_nothing(void *unused, uint64_t at, uint64_t value, unsigned size) {}

static const MemoryRegionOps pins = { read_register, write_register, .valid = { 4, 4 }, .impl = { 4, 4 } };
static const MemoryRegionOps nothing = { read_nothing, write_nothing, .valid = { 1, 8 }, .impl = { 1, 8 } };
/* QEMU's MemoryRegion, whose size is a few hundred bytes. */
static char over_pins[8192] __attribute__((aligned(16))), over_rest[8192] __attribute__((aligned(16)));

static void fail(const char *words) {
    fprintf(stderr, "pi_gpio: %s\n", words);
    exit(1);
}
static void lay_over(Notifier *unused, void *data) {
    void *gpio = object_resolve_path("/machine/soc/peripherals/gpio", NULL);
    if (!gpio) fail("this machine is no Raspberry Pi");
    bool is_bcm2711 = object_resolve_path("/machine/soc/gic", NULL) != NULL;
    void *controller = object_resolve_path(is_bcm2711 ? "/machine/soc/peripherals" : "/machine/soc/peripherals/ic", NULL);
    for (int bank = 0; bank < 4; bank++)
        interrupts[bank] = is_bcm2711 ? qdev_get_gpio_in(controller, 113 + bank)
                                      : qdev_get_gpio_in_named(controller, "gpu-irq", 49 + bank);
    inner = sysbus_mmio_get_region(gpio, 0);
    memory_region_init_io(over_pins, NULL, &pins, NULL, "pi-gpio", SIZE);
    memory_region_add_subregion_overlap(get_system_memory(), is_bcm2711 ? 0xfe200000 : 0x3f200000, over_pins, 1000);
    memory_region_init_io(over_rest, NULL, &nothing, NULL, "pi-nothing", is_bcm2711 ? 0x3000000 : 0x1000000);
    memory_region_add_subregion_overlap(get_system_memory(), is_bcm2711 ? 0xfc000000 : 0x3f000000, over_rest, -2000);
    happened = fopen(getenv("PI_GPIO_LOG") ? getenv("PI_GPIO_LOG") : "/dev/null", "w");
    if (!happened) fail("PI_GPIO_LOG cannot be written");
    setvbuf(happened, NULL, _IOLBF, 0);
    if (getenv("PI_GPIO_PLAN") && !(plan.file = fopen(getenv("PI_GPIO_PLAN"), "r"))) fail("PI_GPIO_PLAN cannot be read");
    if (getenv("PI_GPIO_GO")) go = atoi(getenv("PI_GPIO_GO"));
    timer_init_full(&plan.timer, NULL, QEMU_CLOCK_VIRTUAL, NANOSECONDS, 0, play_due, NULL);
}
static Notifier machine_done = { lay_over };
__attribute__((constructor)) static void start(void) {
    if (qemu_add_machine_init_done_notifier) qemu_add_machine_init_done_notifier(&machine_done);
}
