"""Tables of all kinds are read as their owners mean them, or the doubt is announced."""

from __future__ import annotations

import pytest
from tests.table.readings import TABLES, read

REFUSED = {table.name for table in TABLES if table.doubt} - {"locales"}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_is_read_as_meant_or_the_doubt_is_announced(table, tmp_path):
    found = read(table, tmp_path)
    meant = "announced" if table.name in REFUSED else "right"
    assert found.verdict == meant, (found.was, found.meant, found.said)


def test_there_are_enough_tables():
    assert len(TABLES) - len(REFUSED) >= 60
    assert len({table.name for table in TABLES}) == len(TABLES)
