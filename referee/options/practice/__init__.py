"""Practice alone: cards and slaps at one player's own pace."""
