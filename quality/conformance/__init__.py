"""Requirements of the reference documents and the contracts, asked of the product at each door."""
