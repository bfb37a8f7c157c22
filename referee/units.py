"""Units of time: every instant and every span in this project is a whole number of nanoseconds."""

from typing import Final

US: Final = 1_000
MS: Final = 1_000_000
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
