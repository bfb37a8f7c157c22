"""A second world to be judged in: a card table with hands, lamps and cards, path-traced by Blender's Cycles."""
