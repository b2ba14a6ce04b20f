"""The judges: is it a whole paper, is it this paper."""
