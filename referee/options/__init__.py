"""Things that an evening does without: each folder holds one, whole, with its page, its texts and its command."""
