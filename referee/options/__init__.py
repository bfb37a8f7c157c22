"""Optional features: each folder holds one, complete with its page, its texts and its command."""
