"""Reads Delta tables with engines that are independent of the product: one JSON request per line on stdin, one JSON answer per line on stdout.

{"id":1,"cmd":"rows|schema|history|changes|files","engine":"delta-rs|duckdb|spark","path":...,"version":...,"from":...,"to":...,"filter":...}
{"id":2,"cmd":"check","path":...}                     findings of the integrity check, which uses no engine for the metadata
{"id":3,"cmd":"sql","engine":"spark","sql":...}       rows of the last statement
{"id":4,"cmd":"write_deltalake","path":...,"rows":[...],"mode":...}
Answers: {"id":1,"ok":true,"rows":[...]} or {"id":1,"ok":false,"error":{...}}. Rows are canonical values (oracle/canon.py).
"""
import contextlib
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle import canon, check, engines  # noqa: E402

ENGINES = {engine.name: engine for engine in engines.available("delta")}


def run_check(request):
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        check.run({"path": request["path"], "format": "delta"}, allow_orphans=request.get("allowOrphans", False))
    lines = [json.loads(line) for line in report.getvalue().splitlines()]
    return [line for line in lines if "summary" not in line]


def delta_rs_write(request):
    import pyarrow
    from deltalake import write_deltalake

    write_deltalake(request["path"], pyarrow.Table.from_pylist(request["rows"]), mode=request.get("mode", "append"))
    return []


def delta_rs_delete(request):
    from deltalake import DeltaTable

    return [{k: str(v) for k, v in DeltaTable(request["path"]).delete(request.get("predicate")).items()}]


def answer(request):
    cmd = request["cmd"]
    if cmd == "check":
        return run_check(request)
    if cmd == "write_deltalake":
        return delta_rs_write(request)
    if cmd == "delete_deltalake":
        return delta_rs_delete(request)
    request.setdefault("format", "delta")
    engine = ENGINES[request["engine"]]
    if cmd in ("sql", "stream_changes", "detail"):
        return engine.call(cmd, request)
    return getattr(engine, cmd)(request)


def main():
    # Libraries print to stdout; the protocol has it for itself.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            reply = {"id": request["id"], "ok": True, "rows": answer(request)}
        except Exception as error:  # noqa: BLE001
            detail = getattr(error, "detail", None)
            reply = {"id": request["id"], "ok": False, "error": detail or {"python": type(error).__name__, "message": str(error)[:4000]}}
        out.write((json.dumps(reply, ensure_ascii=False, default=str) + "\n").encode("utf-8", "surrogatepass"))
        out.flush()


if __name__ == "__main__":
    main()
