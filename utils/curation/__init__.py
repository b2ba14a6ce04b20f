"""Maintain a shelf: file texts by hand, read, audit, overrule, recheck, renew, diagnose."""
