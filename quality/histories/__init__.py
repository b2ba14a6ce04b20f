"""Years of a corpus and of a mirror, played at random with kills: what is kept is always whole."""
