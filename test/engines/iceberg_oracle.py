"""Reads Iceberg tables with engines that are independent of the product: one JSON request per line, one JSON answer per line.

{"id":1,"cmd":"rows","engine":"pyiceberg|duckdb","path":...,"snapshot":...}     the rows of a table, of a snapshot of it
{"id":2,"cmd":"check","path":...}                                             findings of the integrity check, which uses no engine
Answers: {"id":1,"ok":true,"rows":[...]} or {"id":1,"ok":false,"error":{...}}. Rows are canonical values (oracle/canon.py).
"""
import importlib
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle import canon, check  # noqa: E402
from oracle.ice_meta import find_metadata  # noqa: E402


def pyiceberg_rows(request):
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(find_metadata(request["path"]), {})
    snapshot = request.get("snapshot")
    return canon.table_rows(table.scan(snapshot_id=None if snapshot is None else int(snapshot)).to_arrow())


def duckdb_rows(request):
    metadata = find_metadata(request["path"]).replace("'", "''")
    snapshot = request.get("snapshot")
    option = "" if snapshot is None else ", snapshot_from_id => %d::ubigint" % int(snapshot)
    return canon.table_rows(duckdb_connection().execute("SELECT * FROM iceberg_scan('%s'%s)" % (metadata, option)).to_arrow_table())


def duckdb_connection():
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    connection.execute("SET TimeZone = 'UTC'")
    for extension in ("avro", "iceberg"):
        directory = os.path.dirname(importlib.import_module("duckdb_extension_" + extension).__file__)
        files = (os.path.join(root, name) for root, _, names in os.walk(directory) for name in names)
        connection.execute("LOAD '%s'" % next(file for file in files if file.endswith(".duckdb_extension")))
    return connection


def run_check(request):
    found = []
    check.run({"path": request["path"], "format": "iceberg"}, allow_orphans=request.get("allowOrphans", False), emit=found.append)
    return [finding for finding in found if finding.get("level") == "error"]


ROWS = {"pyiceberg": pyiceberg_rows, "duckdb": duckdb_rows}


def answer(request):
    return run_check(request) if request["cmd"] == "check" else ROWS[request["engine"]](request)


def main():
    # Libraries print to stdout; the protocol has it for itself.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            reply = {"id": request["id"], "ok": True, "rows": answer(request)}
        # Libraries in Rust panic with exceptions of their own, which are no Exception.
        except BaseException as error:  # noqa: BLE001
            reply = {"id": request["id"], "ok": False, "error": {"python": type(error).__name__, "message": str(error)[:4000]}}
        out.write((json.dumps(reply, ensure_ascii=False, default=str) + "\n").encode("utf-8", "surrogatepass"))
        out.flush()


if __name__ == "__main__":
    main()
