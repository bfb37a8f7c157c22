# The plug pulled on a running demo. N= sets how often: make power-cuts N=50
.PHONY: power-cuts
power-cuts: N = 300
power-cuts: install  ## N power cuts and N kills of a running demo: nothing announced may be lost
	$(BIN)/python -m tests.powercut.cuts $(N)
