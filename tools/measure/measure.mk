# What measures: none of it is part of `make test`. ARGS= passes options on.

# Outputs that must not change unintended. After an intended change: make frozen ARGS=--write, and commit that too.
.PHONY: frozen

frozen: install  ## the commands answer fixed logs, pictures, sequences and mistakes as they did (ARGS=--write: from now on so)
	$(BIN)/python tools/frozen.py $(ARGS)

.PHONY: pictures

pictures: install apt-test  ## the documents' pictures of scoreboard, photo-finish and terminal, drawn anew
	$(BIN)/python -m tools.pictures

# What a reader of the code passes on the way of one slap.
.PHONY: contact-sheet

contact-sheet: install apt-test  ## every page at 390x844 to 1920x1080, light and dark, four and eight players, to look at (out/contact)
	$(BIN)/python -m tools.contact_sheet $(ARGS)

.PHONY: texts

texts: install apt-test  ## every text at first sight on every page, in four languages, to be read (out/texts-XX.txt); ARGS="--only wizard" (10 minutes)
	$(BIN)/python -m tools.texts $(ARGS)

.PHONY: page-cards

page-cards: install  ## the cards that the page shows large, drawn anew (referee/web/static/cards)
	$(BIN)/python -m tools.page_cards

.PHONY: walk

walk: install  ## the files and functions that one slap runs through, from the pad's edge to the ruling and on to the page
	$(BIN)/python -m tools.walk

# More of the core's tests than a normal run has time for.
.PHONY: games oracle fuzz
N ?= 2000

games: install  ## N random games under random house rules against a plain model of the cards, and shuffled
	GAMES=$(N) $(BIN)/python -m pytest -q tests/rules/test_machine.py

# Laws that need no second referee, on wild games of any rules: what breaks one is cut down and printed as a scenario.
.PHONY: laws
LAWS ?=

laws: install  ## N wild games held to the laws of table and log, drawn by SEED, with progress (LAWS="order undone": these alone; ARGS=--help)
	@$(BIN)/python -m tests.engine.laws $(LAWS) --games $(N) --seed $(SEED) $(ARGS)

oracle: install  ## N games of each preset against a second, plain referee: every sort of difference, or none (20 minutes)
	$(BIN)/python -m tests.oracle.comparison --games $(N) $(ARGS)

fuzz: install  ## N damaged logs and house-rule files: never a traceback
	FUZZ=$(N) $(BIN)/python -m pytest -q -s tests/cli/test_fuzz.py

# What stands in a record and is no line of any game.
.PHONY: odd-lines
odd-lines: install  ## N kinds of odd lines in recorded games: page, run, league, hall and broker go on (2 minutes)
	$(BIN)/python -m tests.record.odd_lines $(N)

# Single bytes, sectors and pages of data base, write-ahead log and pictures.
.PHONY: damages
damages: install  ## N damages to a record: no traceback, no silent change, everything readable rescued (N=5000: 16 minutes)
	$(BIN)/python -m tests.record.damages $(if $(filter command line,$(origin N)),$(N),5000)

# Mutation testing of the core: not part of `make test`. Twenty minutes or so for 500 mutants on one core.
.PHONY: mutants
SEED ?= 1

mutants: install  ## N mutants of the core drawn by SEED: which of them no test notices (build/mutants)
	$(BIN)/python -m tools.mutants --count $(if $(filter command line,$(origin N)),$(N),500) --seed $(SEED)

.PHONY: rules-coverage

rules-coverage: install  ## out/rules-coverage.md: which scenario proves which rule
	$(BIN)/python -m tools.rules_coverage

# Twenty whole games at the simulated table, or with SET=A, B or C those of tools/measure/demo_games.txt.
.PHONY: demo-seeds
SEEDS ?= $(shell seq 1 20)
SET ?=
FIGURES ?= build/demo-seeds

demo-seeds: install  ## twenty games as fast as they go, and their figures as a table (SET=A: the games of a set)
	@rm -rf $(FIGURES) && mkdir -p $(FIGURES)
	@$(if $(SET),sed -n 's/^$(SET) //p' tools/measure/demo_games.txt,printf '%s\n' $(SEEDS)) | while read -r seed options; do \
	  $(BIN)/referee demo --no-pace --seed $$seed $$options --summary $(FIGURES)/$$seed.json $(ARGS) \
	    < /dev/null > $(FIGURES)/$$seed.txt || tail -n 12 $(FIGURES)/$$seed.txt; \
	done
	@$(BIN)/python -m tools.demo_figures $(FIGURES)/*.json

# How well the eye reads, how far its confidence can be relied on, and how fast it is.
PHOTOS ?= ../shared/photos

.PHONY: eval-photos eval-held-back bench-eye

eval-photos: install  ## score the eye on PHOTOS (a folder with labels.csv); out/eval-photos/report.html
	$(BIN)/python -m models.evaluation.photo_score $(PHOTOS) --report out/eval-photos

eval-held-back: install  ## score the eye on scenes of held-out decks and fonts; needs the library of make train-data
	test -f out/eye/library/meta.npy || $(MAKE) train-packages train-data
	$(BIN)/python -m models.training.heldout

bench-eye: install  ## time the networks and whole frames, one thread
	$(BIN)/python -m tools.measure.eye_bench

# What it costs on a Raspberry Pi, in instructions that QEMU counts.
.PHONY: instructions

instructions: install  ## instructions of a frame and of a card on arm64, and cards a second on a Pi 4 and 5 by them (two minutes; ARGS="--frames 400")
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.instructions $(ARGS)

.PHONY: slow-eye

slow-eye: install  ## games refereed with an eye as slow as a Pi's: a table (half an hour; ARGS=--pace: real processes, in real time)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.slow_eye $(ARGS)

# Phones as pads. ARGS= passes options on: make honest-phones ARGS="--hands 500 --seeds 1"
.PHONY: honest-phones

honest-phones: install  ## 5,000 hands on phones in bad networks: truth inside the stated error, refused as late, told (a minute or two)
	$(BIN)/python -m tools.measure.honest_phones $(ARGS)

# Gaps in the referee's sight. ARGS= passes options on: make gaps ARGS="--gaps 20", or --kind "eye killed", --no-gap, --again
.PHONY: gaps
GAPS ?= 200

gaps: install  ## GAPS gaps in simulated games (silent camera, killed camera or eye, repeated pictures), seed SEED: what is lost, wrong, asked; out/gaps.json (20 minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.gaps --gaps $(GAPS) --seed $(SEED) $(ARGS)

# Heaps, twins and whole deals. ARGS= passes options on: make heaps-check ARGS="--deals 0"
.PHONY: heaps-check

heaps-check: install  ## heaps under foreign jokers and backs, cards in half a glare, whole deals: what the still eye makes of them (some minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.heaps_check $(ARGS)

# What deck memory adds to the eye, measured. ARGS= passes options on: make prior-check ARGS="--games 2"
.PHONY: prior-check

prior-check: install  ## how many more cards are named for sure with deck memory's help, and how often wrongly
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.prior_check $(ARGS)

# Hard situations at the simulated table. ARGS= passes options on: make hard-set ARGS="--frames out/hard --faults"
.PHONY: hard-set

hard-set: install  ## what the watcher makes of glare, a bumped camera, a lamp switched off, ...: a table
	$(BIN)/python -m tools.hard_set $(ARGS)

# Unusual decks, learned by laying them once.
.PHONY: enrol-check
PICTURES ?= 200

enrol-check: install  ## unusual simulated decks before and after `referee enrol`, as a table (some minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.enrol_check --pictures $(PICTURES) --sheets build/enrol $(ARGS)

# Decks with the letters of other languages, never learned.
.PHONY: letters-check

letters-check: install  ## simulated decks with German, French, Dutch ... letters, read without `referee enrol` (some minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.letters_check $(ARGS)

# The camera's calibration.
.PHONY: calibration-figures flicker-figures span-figures

calibration-figures: install  ## how true a table that is found is, and down to what picture cards are read
	$(BIN)/python -m tools.measure.calibration_figures $(ARGS)

flicker-figures: install  ## cards, seats and takes under lamps that flicker, by mains and frame rate, as a table (a quarter of an hour)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.flicker_figures $(ARGS)

span-figures: install  ## whether the spans of reveals hold the truth, how wide they are and what is spare, by camera, as a table (a quarter of an hour)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.spans $(ARGS)

# The pads' timing. ARGS= passes options on: make pulse-table ARGS="--pairs 1000", or --export, --record, --edges FILE
.PHONY: pulse-table

pulse-table: install  ## scripted pulses on the pads: required and measured, as a table (about a minute)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.pulse_table $(ARGS)

# Our pins under gpiozero's own tests, from its source distribution.
.PHONY: gpiozero-tests

gpiozero-tests: install  ## gpiozero's own tests of its devices on our pin factory: which fail, and why (a minute; ARGS="-k button")
	$(BIN)/python -m tests.hardware.gpiozero_suite $(ARGS)

# The pads and a USB camera on a real kernel, in a virtual machine: on Debian, x86-64; no KVM is needed.
.PHONY: vm-setup vm-test vm-smoke

vm-setup: install  ## qemu, and Debian's kernel with simulated GPIO lines, into build/vm; once, about a minute
	tools/vm/setup

vm-test: vm-setup  ## the pads, from the kernel's edge to the slap, and a USB camera: required and measured (2 to 4 minutes)
	VM_TIMEOUT=360 tools/vm/boot $(BIN)/python -m tests.vm full

vm-smoke: vm-setup  ## the same in short (half a minute)
	VM_TIMEOUT=150 tools/vm/boot $(BIN)/python -m tests.vm smoke

# The camera's own process: what it costs, and how soon it is back.
.PHONY: camera-figures

camera-figures: install  ## cost and delay of a frame between the processes, and the time without frames after a fault
	$(BIN)/python -m tools.measure.camera_figures

# The voice. LANGUAGE= en, es, de or fr; VOICE= the path of a Piper voice, if there is one.
.PHONY: voice voice-check
LANGUAGE ?= en

# The environment's own LANGUAGE ("en_GB:en") is no choice of the referee's voice.
ifeq ($(origin LANGUAGE),environment)
  LANGUAGE := en
endif

voice: install  ## render the referee's phrases for LANGUAGE= into the user's cache, so that the first game need not wait
	@$(BIN)/python -m tools.voice_clips $(LANGUAGE) $(if $(VOICE),--piper "$(VOICE)") $(ARGS)

voice-check: install  ## how many of the spoken phrases are understood in noise, and how even and clean the sound is (minutes)
	@OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.voice_check $(ARGS)

# How fast the running table is. ARGS= passes options on: make latency ARGS="--slaps 100"; VIEWERS=40: with and without.
.PHONY: latency
VIEWERS ?=

latency: install  ## from an edge to its light and from a verdict to its sound, with a busy eye: alone, beside busy processes, with a slow disk (6 minutes; out/latency); VIEWERS=40: and with viewers (ARGS=--replays: who load replays)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.latency$(if $(VIEWERS),_viewers --viewers $(VIEWERS)) $(ARGS)

# What can fail at a table, failed on purpose. ARGS= passes options on: make faults ARGS="-k camera"
.PHONY: faults

faults: install  ## every fault of a running table: goes on, told, on the log, recovers; a matrix (two minutes)
	FAULTS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/faults $(ARGS)

# The plug pulled on a running demo. N= sets how often: make power-cuts N=50
.PHONY: power-cuts fuse
power-cuts: N = 300
power-cuts: install fuse  ## N power cuts and N kills of a running demo: nothing announced may be lost
	$(BIN)/python -m tests.powercut.cuts $(N)

# Other programs at the record of a running game. N= sets how often.
.PHONY: intrusions
intrusions: N = 200
intrusions: install  ## N starts, removals, imports and restores beside a running game: refused, and nothing lost
	$(BIN)/python -m tests.record.intrusions $(N)

fuse:
	@ldconfig -p | grep -q 'libfuse3\?\.so' || { $(SUDO) apt-get update -q && \
	  $(SUDO) apt-get install -y -q --no-install-recommends fuse3; }

# Children that start on a busy machine, and children that are killed while a game is on.
.PHONY: starts kills
starts: install  ## 200 starts of eye and camera at a load of ten, and the page killed twenty times (half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.starts $(ARGS)

kills: install  ## half an hour of rendered games in real time, a child killed every minute: rulings against the truth, memory, descriptors, threads
	$(BIN)/python -m tools.measure.kills $(ARGS)

# A day at one table. CARDS= sets how long it is: make soak CARDS=20000. Ctrl-C stops it after the game that is on, and
# the same command goes on with it; ARGS=--fresh begins anew.
.PHONY: soak
soak: CARDS = 200000
soak: install  ## a simulated day and two whole rendered games: memory flat, record and pictures under their caps (25 minutes; can be stopped)
	$(BIN)/python -m tools.measure.soak --cards $(CARDS) $(ARGS)

# The page. ARGS= passes options on.
.PHONY: cheats

cheats: install  ## one phone of four lies in twelve ways to the whole program, 20 piles each: a table and drawings, out/cheats/report.html (6 minutes)
	$(BIN)/python -m tools.measure.cheats $(ARGS)

.PHONY: play-test moments evenings replays page-test page-bench
SHOTS ?= out/page

page-test: install apt-test  ## the page in a real browser: a game watched, photo-finishes, screenshots into out/page, accessibility
	SHOTS=$(SHOTS) $(BIN)/python -m pytest -q tests/web $(ARGS)

play-test: install apt-test  ## `referee play` in a real browser: a rendered webcam, phones and keys, a game of 60 cards against the truth (two minutes)
	$(BIN)/python -m tools.measure.play_test $(ARGS)

moments: install apt-test  ## ten slaps before board, projector, terminal and voice: every text at every instant against the final ruling (one minute)
	$(BIN)/python -m tools.measure.moments $(ARGS)

replays: install apt-test  ## instant replays of a demo and of a network camera's game: delays, why not, bytes, instants, memory (ten minutes; ARGS="--games 3")
	$(BIN)/python -m tools.measure.replays $(ARGS)

evenings: install apt-test  ## a family's, a class's and a club's first week from empty homes, and evenings without a camera or with a wrong one; pictures in out/evenings (WHO=family plays one)
	$(BIN)/python -m tools.measure.evenings $(WHO) $(ARGS)

page-bench: install  ## how long a ruling takes to forty screens, and the page's memory, required against measured
	$(BIN)/python -m tools.measure.page_bench $(ARGS)

# Costs of the page's views: a game of 100,000 rulings, records of 2 GB (4 GB below build).
.PHONY: looking-cost

looking-cost: install  ## time and memory of a page's answers over very long games and records of 2 GB, required against measured (some minutes; ARGS="--mb 200" for less)
	$(BIN)/python -m tools.measure.looking_cost $(ARGS)

# The page's guard, longer than a normal run has time for.
.PHONY: page-fuzz

page-fuzz: install  ## N made-up requests for each route of the page, ours and schemathesis': never a 5xx, no change without pairing (20 minutes)
	PAGE_FUZZ=$(if $(filter command line,$(origin N)),$(N),3000) $(BIN)/python -m pytest -q -s tests/web/test_control_surface.py
	$(BIN)/python -m tools.measure.page_fuzz --examples $(if $(filter command line,$(origin N)),$(N),60) $(ARGS)

# Many tables on one broker. N= is how many, one number or several: make hall-bench N="100 800". ARGS= passes options on.
.PHONY: hall-bench
hall-bench: N = 25 50 100 200 400 800 1600

hall-bench: install  ## how many tables one broker and one hall carry: latency, processor, memory (some four minutes)
	@command -v /usr/sbin/mosquitto mosquitto >/dev/null || { $(SUDO) apt-get update -q && \
	  $(SUDO) apt-get install -y -q --no-install-recommends mosquitto; }
	$(BIN)/python -m tools.measure.hall_bench --tables $(N) $(ARGS)

# What the league's ratings are worth, on made-up seasons of players whose strengths are known.
.PHONY: league-figures

league-figures: install  ## how often a rating's limits hold, and how often the better one stands above, as a table
	$(BIN)/python -m tools.measure.seasons

# A dispute from people's own video.
.PHONY: review-check

review-check: install  ## three rendered disputes settled by `referee review`: hands within their error, rulings right (a minute; ARGS=--game: and a whole game's hands, without and with sound, half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.review_check $(ARGS)

# What is no arm, and an arm that rests: the watcher's look at the picture's edge, in figures.
.PHONY: arm-trials

arm-trials: install  ## soft shadows over the picture's edge, and arms that rest for a minute: which are taken for arms (ARGS="--seeds 4" for less)
	$(BIN)/python -m tools.measure.arm_trials $(ARGS)

# A second world to be judged in: path-traced by Blender (bpy, Python 3.11), in an environment of its own.
.PHONY: second-world second-world-stills second-world-packages
WORLD := .venv-world
WORLD_APT := libxkbcommon0 libegl1 libgl1 libsm6 libice6 libxxf86vm1 libxfixes3 libxi6 libxrender1 fontconfig
SEQUENCES ?= build/second-world
STILLS ?= 600

$(WORLD)/.installed: pyproject.toml
	@command -v python3.11 >/dev/null || { echo "Blender as a module (bpy 5.0.1) needs python3.11, and none is here"; exit 1; }
	@for p in $(WORLD_APT); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || \
	  { $(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q --no-install-recommends $(WORLD_APT); break; }; done
	test -x $(WORLD)/bin/python || python3.11 -m venv $(WORLD)
	$(WORLD)/bin/python -m pip install -q -e '.[world]'
	touch $@

second-world-packages: $(WORLD)/.installed  ## Blender as a Python module, for the second world only (1 GB in .venv-world)

# Rooms drawn by chance in place of those listed, so many or FIRST-LAST; UNRULY=1: with careless people under a careless camera.
DRAWN ?= 0
UNRULY ?=
ifneq ($(DRAWN),0)
SEQUENCES := build/$(if $(UNRULY),unruly,drawn)$(if $(findstring -,$(DRAWN)),-$(DRAWN))
endif
FILM = $(WORLD)/bin/python -m tools.second_world.film --out $(SEQUENCES) --drawn $(DRAWN) $(if $(UNRULY),--unruly) --step 2

second-world: install $(WORLD)/.installed  ## path-traced sequences, rendered by two processes (goes on where it was stopped), and the watcher's score on them; DRAWN=24 or DRAWN=200-219 for rooms drawn by chance, UNRULY=1 for careless people in them
	$(FILM) --first 0 & $(FILM) --first 1 || { wait; exit 1; }; wait $$!
	$(BIN)/python -m tools.second_world.judge $(SEQUENCES) --bare --json $(SEQUENCES)/score.json $(ARGS)

second-world-stills: $(WORLD)/.installed  ## path-traced stills with masks (STILLS=600), for training the network that tells hands from cloth
	@half() { $(WORLD)/bin/python -m tools.second_world.stills --first $$1 --step 2 --count $$(($(STILLS) / 2)); }; \
	again() { for try in 1 2 3 4 5; do half $$1 && return; echo "going on after a stop"; done; return 1; }; \
	again 0 & again 1 || { wait; exit 1; }; wait $$!

# The ear against recordings of real hits (CC0), from Debian's archive.
.PHONY: real-hits
HITS ?= build/hits

real-hits: install  ## onsets in recordings of hands and sticks on drums: how many are heard, and how far off (two minutes)
	@test -d $(HITS) || { mkdir -p $(HITS) && cd $(HITS) && apt-get download -q sonic-pi-samples && dpkg -x sonic-pi-samples_*.deb .; }
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.measure.real_hits $(HITS) $(ARGS)
