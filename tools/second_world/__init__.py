"""A second world for judging the watcher: a card table with hands, lamps and cards, path-traced by Blender's Cycles."""
