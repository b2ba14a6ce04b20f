"""A whole review, played from its protocol to its figure: every number is counted again."""
