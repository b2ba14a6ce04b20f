"""The demo's invented papers, and the small internet that gives them away."""
