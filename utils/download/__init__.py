"""From identifiers to a file: look-up, crosswalk, the ladder, the download."""
