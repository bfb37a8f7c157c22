"""One picture in, the cards in it out."""
