"""The rows of all tables of the benchmarks: order i is a function of i and a seed."""

import duckdb

ROWS = 5_000_000
KEYS = 500_000
BASE_FILES = 16
SMALL_FILES = 1_000
ROWS_OF_SMALL_FILE = 41_000

connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'; SET threads = 2")


def words(name, salt):
    lists = {
        "status": ["created", "paid", "packed", "shipped", "delivered", "returned"],
        "city": ["Oslo", "Berlin", "Lisbon", "Toronto", "Nagoya", "Austin", "Lyon", "Krakow", "Leeds", "Turin", "Quito", "Perth"],
        "country": ["NO", "DE", "PT", "CA", "JP", "US", "FR", "PL", "GB", "IT", "EC", "AU"],
        "tag": ["gift", "express", "b2b", "promo", "fragile", "repeat", "mobile", "web", "bulk", "eco", "vip", "intl"],
    }
    return "%s[1 + (hash(id, %s) %% %d)::INT]" % (lists[name], salt, len(lists[name]))


def orders(ids, seed):
    """Orders of the ids a query gives."""
    return connection.execute(
        f"""SELECT id AS order_id, (hash(id, {seed} + 1) % 500000)::BIGINT AS customer_id, (hash(id, {seed} + 2) % 100000 + 1)::BIGINT / 100.0 AS amount,
        {words("status", f"{seed} + 3")} AS status, make_timestamptz(1767225600000000 + id * 1000) AS ts,
        struct_pack(street := (hash(id, {seed} + 4) % 9900 + 100)::VARCHAR || ' Main Street', city := {words("city", f"{seed} + 5")},
          zip := lpad((hash(id, {seed} + 6) % 100000)::VARCHAR, 5, '0'), country := {words("country", f"{seed} + 5")}) AS address,
        [{words("tag", f"{seed} + 7")}, {words("tag", f"{seed} + 8")}, {words("tag", f"{seed} + 9")}] AS tags
        FROM ({ids})"""
    ).to_arrow_table()


def base_parts(scale):
    """The ids of each file of the large table, as queries."""
    rows = ROWS // scale
    for part in range(BASE_FILES):
        yield f"SELECT range AS id FROM range({part * rows // BASE_FILES}, {(part + 1) * rows // BASE_FILES})"


def keys(scale):
    """Orders to merge into the large table: every tenth row has another value; a hundredth of the keys is not there yet."""
    rows, count = ROWS // scale, KEYS // scale
    ids = f"SELECT CASE WHEN range % 100 = 99 THEN {rows} + range ELSE range * 10 + (hash(range) % 10)::BIGINT END AS id FROM range({count}) ORDER BY hash(range)"
    return orders(ids, 100)
