"""Shadow mode: people referee and mark their verdicts; the referee's own are compared with them afterwards."""
