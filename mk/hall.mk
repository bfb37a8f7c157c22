# Many tables on one broker. N= is how many, one number or several: make hall-bench N="100 800". ARGS= passes options on.
.PHONY: hall-bench
hall-bench: N = 25 50 100 200 400 800 1600

hall-bench: install  ## how many tables one broker and one hall carry: latency, processor, memory (some four minutes)
	@command -v /usr/sbin/mosquitto mosquitto >/dev/null || { $(SUDO) apt-get update -q && \
	  $(SUDO) apt-get install -y -q --no-install-recommends mosquitto; }
	$(BIN)/python -m tools.measure.hall_bench --tables $(N) $(ARGS)
