"""A small MCP server over an SQLite database."""

import sqlite3
from typing import Any

from mcp.server import MCPServer

server = MCPServer("database")
COUNTRIES = ("Norway", "Peru", "Japan", "Kenya")


def connect() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE orders (id INTEGER, customer TEXT, country TEXT, amount INTEGER)")
    rows = [(i, f"customer {i}", COUNTRIES[i % 4], i * 3) for i in range(400)]
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)
    return connection


@server.tool()
def query(sql: str) -> list[dict[str, Any]]:
    """Run a query."""
    cursor = connect().execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


if __name__ == "__main__":
    server.run()
