"""Scripts as users write them: mypy checks them strictly, nobody runs them."""
