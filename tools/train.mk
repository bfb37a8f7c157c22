# The eye: training on synthetic pictures, and its score on photographs.
EYE := out/eye
DECKS ?= ../shared/decks
WEIGHTS ?= models/weights
# Of the finder; more only help where the cores are free: threads that wait for each other cost more than they give.
THREADS ?= 2
# Number of drawing processes, side by side.
PROCESSES ?= 2
# cuda: the networks learn on a graphics card, many times as fast.
DEVICE ?= cpu
GENERATED ?= 500
SHARDS ?= 228
MINED ?= 70
# Shards of cards on whose heaps one without an index lies.
COVERS ?= 45
FINDER_STEPS ?= 7000
READER_STEPS ?= 15200
CARD_STEPS ?= 25300
# Of the network of surfaces: shards of drawn tables, path-traced stills, steps.
TABLES ?= 62
TABLE_STILLS ?= 800
SURFACE_STEPS ?= 8000
# Held-out scenes that the confidence is fitted and checked on, half each.
FITTED ?= 1600
LETELE := @letele/playing-cards@0.1.0
# Fonts that print the indices of generated decks. Roboto, Source Serif, Source Sans and Fredoka are the simulated
# table's and are left out by models/training/fonts.py even where they are installed.
FONTS := fonts-dejavu-extra fonts-liberation2 fonts-freefont-ttf fonts-open-sans fonts-lato fonts-cantarell \
  fonts-crosextra-carlito fonts-crosextra-caladea fonts-linuxlibertine fonts-junicode fonts-ebgaramond fonts-cabin \
  fonts-comfortaa fonts-quicksand fonts-play fonts-urw-base35 fonts-texgyre fonts-lmodern fonts-hack fonts-firacode \
  fonts-inconsolata fonts-sil-gentium fonts-sil-charis fonts-sil-andika fonts-century-catalogue fonts-bebas-neue \
  fonts-prociono fonts-vollkorn fonts-averia-gwf fonts-averia-serif-gwf fonts-averia-sans-gwf fonts-yanone-kaffeesatz \
  fonts-karla fonts-lindenhill fonts-goudybookletter fonts-breip fonts-courier-prime fonts-fanwood \
  fonts-georgewilliams fonts-jura fonts-ocr-a fonts-ocr-b fonts-okolaks fonts-stix fonts-tuffy fonts-adf-accanthis \
  fonts-adf-baskervald fonts-adf-berenis fonts-adf-gillius fonts-adf-ikarius fonts-adf-irianis fonts-adf-libris \
  fonts-adf-mekanus fonts-adf-romande fonts-adf-solothurn fonts-adf-switzera fonts-adf-tribun fonts-adf-universalis \
  fonts-adf-verana fonts-allerta fonts-arapey fonts-b612 fonts-cardo fonts-clear-sans fonts-comic-neue fonts-dosis \
  fonts-dustin fonts-eurofurence fonts-fantasque-sans fonts-gfs-didot fonts-go fonts-inter fonts-jetbrains-mono \
  fonts-junction fonts-klaudia-berenika fonts-league-spartan fonts-lobstertwo fonts-manrope fonts-national-park \
  fonts-oldstandard fonts-opendin fonts-paratype fonts-quattrocento fonts-roadgeek fonts-routed-gothic fonts-sora \
  fonts-tiresias fonts-tlwg-kinnari-ttf fonts-tlwg-norasi-ttf fonts-tlwg-umpush-ttf fonts-tlwg-waree-ttf \
  fonts-tomsontalks fonts-yrsa-rasa fonts-essays1743 fonts-elstob fonts-isabella fonts-noto-core fonts-oxygen \
  fonts-blankenburg fonts-teluguvijayam

# Run a command that ends with --first once for each process; fail if one of them does.
BESIDE = seq 0 $$(($(PROCESSES) - 1)) | xargs -n 1 -P $(PROCESSES)

# The faces of all decks, unless they are there.
LIBRARY = test -f $(EYE)/library/backgrounds.npy || $(BIN)/python -m models.training.library --decks $(DECKS) --out $(EYE) \
  --generated $(GENERATED) --processes $(PROCESSES)

.PHONY: train train-short train-surfaces train-packages train-data eval-photos bench-eye

train-packages: install  ## apt packages, the npm deck and PyTorch, for training only
	$(SUDO) apt-get update -q
	$(SUDO) apt-get install -y -q --no-install-recommends librsvg2-bin kdegames-card-data-kf5 gnome-cards-data \
	  fontconfig $(FONTS)
	# Other makers' nodejs brings its own npm and conflicts with Debian's.
	command -v npm >/dev/null || $(SUDO) apt-get install -y -q --no-install-recommends nodejs npm
	tools/get-packages $(BIN)/python train
	$(BIN)/python -m pip install -q --no-deps -e .
	mkdir -p $(EYE)/letele
	test -d $(EYE)/letele/package || (cd $(EYE)/letele && npm pack --silent $(LETELE) && tar xzf letele-*.tgz)

train-data:  ## faces of all decks, then shards of scenes; goes on where it was stopped
	$(LIBRARY)
	$(BIN)/python -m models.training.samples --out $(EYE) --split held-out --count 3
	$(BESIDE) $(BIN)/python -m models.training.samples --out $(EYE) --count $(SHARDS) --step $(PROCESSES) --first
	$(BESIDE) $(BIN)/python -m models.training.samples --out $(EYE) --split covers --count $(COVERS) --step $(PROCESSES) --first

train: train-packages  ## train all networks from nothing, in stages that resume from out/eye: about five hours on two cores, 45 GB of disk
	$(MAKE) train-data
	$(BIN)/python -m models.training.train finder --out $(EYE) --steps $(FINDER_STEPS) --threads $(THREADS) --device $(DEVICE)
	mkdir -p $(WEIGHTS)
	$(BIN)/python -m models.training.ncnn_export --out $(EYE) --weights $(WEIGHTS) --only finder
	$(BESIDE) $(BIN)/python -m models.training.hard_patches --out $(EYE) --weights $(WEIGHTS) --count $(MINED) --step $(PROCESSES) --first
	# Side by side, each on a core: that takes less time than one after the other on two.
	$(BIN)/python -m models.training.train card --out $(EYE) --steps $(CARD_STEPS) --threads 1 --device $(DEVICE) & beside=$$!; \
	$(BIN)/python -m models.training.train reader --out $(EYE) --steps $(READER_STEPS) --threads 1 --device $(DEVICE) || { kill $$beside; exit 1; }; \
	wait $$beside
	$(BIN)/python -m models.training.ncnn_export --out $(EYE) --weights $(WEIGHTS) --only reader card
	$(BIN)/python -m models.training.confidence_fit --out $(EYE) --weights $(WEIGHTS) --scenes $(FITTED)
	$(MAKE) train-surfaces

train-short:  ## the same in about half an hour, into out/eye-short: weights that read less well, and their score
	$(MAKE) train EYE=out/eye-short WEIGHTS=out/eye-short/weights GENERATED=60 SHARDS=14 MINED=5 COVERS=3 FINDER_STEPS=700 \
	  READER_STEPS=825 CARD_STEPS=400 FITTED=200 TABLES=8 TABLE_STILLS=80 SURFACE_STEPS=800
	$(BIN)/python -m models.evaluation.photo_score $(PHOTOS) --weights out/eye-short/weights

SURFACES := $(BIN)/python -m tools.surfaces.table_scenes --out $(EYE)
STILLS_THERE := --stills build/second-world-stills --first 500

train-surfaces: train-packages  ## what each pixel of the table shows (arm, face, shadow ...), with its score: about an hour on two cores
	$(LIBRARY)
	$(MAKE) second-world-stills STILLS=$(TABLE_STILLS)
	$(SURFACES) --split held-out --count 1
	$(BESIDE) $(SURFACES) --count $(TABLES) --step $(PROCESSES) --first
	$(SURFACES) $(STILLS_THERE) --split held-out --count 501
	$(SURFACES) $(STILLS_THERE) --count 514
	$(BIN)/python -m models.training.train surfaces --out $(EYE) --steps $(SURFACE_STEPS) --threads $(THREADS) --device $(DEVICE)
	mkdir -p $(WEIGHTS)
	$(BIN)/python -m models.training.ncnn_export --out $(EYE) --weights $(WEIGHTS) --only surfaces
	$(BIN)/python -m tools.surfaces.surface_score --shards $(EYE)/surfaces/held-out --weights $(WEIGHTS)
