"""Practice for a single player: cards and slaps at the player's own pace."""
