"""What one does with a shelf: file by hand, read, audit, overrule, recheck, renew, diagnose."""
