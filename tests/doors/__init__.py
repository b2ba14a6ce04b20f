"""Answers of shell, Python and MCP to calls that slip, find nothing or lack a setting."""
