# The plug pulled on a running demo. N= sets how often: make power-cuts N=50
.PHONY: power-cuts fuse
power-cuts: N = 300
power-cuts: install fuse  ## N power cuts and N kills of a running demo: nothing announced may be lost
	$(BIN)/python -m tests.powercut.cuts $(N)

fuse:
	@ldconfig -p | grep -q 'libfuse3\?\.so' || { $(SUDO) apt-get update -q && \
	  $(SUDO) apt-get install -y -q --no-install-recommends fuse3; }
