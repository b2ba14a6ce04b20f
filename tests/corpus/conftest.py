from __future__ import annotations

from tests.databases import database, database_url, postgresql

__all__ = ["database", "database_url", "postgresql"]
