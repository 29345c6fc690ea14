"""Reads Delta and Iceberg tables with engines that are independent of the product: one JSON request per line, one JSON answer per line.

{"id":1,"cmd":"rows|schema|history|changes|files","engine":"delta-rs|pyiceberg|duckdb|spark","path":...,"version":...,"from":...,"to":...,"filter":...}
{"id":2,"cmd":"check","path":...}                     findings of the integrity check, which uses no engine for the metadata
{"id":3,"cmd":"sql","engine":"spark","sql":...}       rows of the last statement
{"id":8,"cmd":"script","engine":"spark","sql":[...],"queries":[...]}   what each statement gave: {}, {"columns":...,"rows":...} of those asked for, {"error":...}
{"id":4,"cmd":"write_deltalake","path":...,"rows":[...],"mode":...}
{"id":5,"cmd":"deltalake","path":...,"op":...}        what delta-rs does to a table (oracle/delta_rs_ops.py)
{"id":6,"cmd":"survey","engine":...,"format":...,"asked":[{"what":"rows","path":...}, ...]}   many readings: {"rows":...} or {"error":...} of each
{"id":7,"cmd":"pyiceberg","catalog":{...},"table":...,"op":...}    what pyiceberg does to a table of a catalog (oracle/pyiceberg_ops.py)
With "format":"iceberg" the table is one of Iceberg; a path without slashes is then a name in a catalog of the Spark session.
Answers: {"id":1,"ok":true,"rows":[...]} or {"id":1,"ok":false,"error":{...}}. Rows are canonical values (oracle/canon.py).

Without arguments it speaks by stdin and stdout. With --listen it prints {"port":n} and answers every connection to that port of the
loopback interface in a thread of its own, until stdin ends. All share one Spark driver, each has a session of it.
"""
import json
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from oracle import check, engines  # noqa: E402


def run_check(request):
    found = []
    check.run({"path": request["path"], "format": request.get("format", "delta")}, allow_orphans=request.get("allowOrphans", False), emit=found.append)
    return [finding for finding in found if "summary" not in finding]


def delta_rs_write(request):
    from oracle import delta_rs_ops

    return delta_rs_ops.run(dict(request, op=request.get("mode", "append")))


def delta_rs_delete(request):
    from oracle import delta_rs_ops

    return delta_rs_ops.run(dict(request, op="delete"))


def delta_rs(request):
    from oracle import delta_rs_ops

    return delta_rs_ops.run(request)


def pyiceberg(request):
    from oracle import pyiceberg_ops

    return pyiceberg_ops.run(request)


OWN = {
    "check": run_check, "write_deltalake": delta_rs_write, "delete_deltalake": delta_rs_delete, "deltalake": delta_rs, "pyiceberg": pyiceberg,
}


def described(error):
    return getattr(error, "detail", None) or {"python": type(error).__name__, "message": str(error)[:4000]}


class Answers:
    """Answers the requests of one client in their order."""

    def __init__(self):
        self.engines = {engine.name: engine for engine in engines.available("delta") + engines.available("iceberg")[:1]}

    def answer(self, request):
        cmd = request["cmd"]
        if cmd in OWN:
            return OWN[cmd](request)
        request.setdefault("format", "delta")
        engine = self.engines[request["engine"]]
        if cmd == "survey":
            return [self.survey(engine, dict(asked, format=request["format"])) for asked in request["asked"]]
        if cmd in ("sql", "script", "stream_changes", "detail"):
            return engine.call(cmd, request)
        return getattr(engine, cmd)(request)

    def survey(self, engine, asked):
        try:
            return {"rows": getattr(engine, asked["what"])(asked)}
        except BaseException as error:  # noqa: BLE001
            return {"error": described(error)}

    def serve(self, lines, out):
        for line in lines:
            request = json.loads(line)
            try:
                reply = {"id": request["id"], "ok": True, "rows": self.answer(request)}
            # Libraries in Rust panic with exceptions of their own, which are no Exception.
            except BaseException as error:  # noqa: BLE001
                reply = {"id": request["id"], "ok": False, "error": described(error)}
            out.write((json.dumps(reply, ensure_ascii=False, default=str) + "\n").encode("utf-8", "surrogatepass"))
            out.flush()


def listen(out):
    server = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=converse, args=(connection,), daemon=True).start()

    def converse(connection):
        with connection, connection.makefile("rwb") as stream:
            try:
                Answers().serve(stream, stream)
            except (BrokenPipeError, ConnectionResetError):
                pass

    threading.Thread(target=accept, daemon=True).start()
    out.write((json.dumps({"port": server.getsockname()[1]}) + "\n").encode())
    out.flush()
    sys.stdin.buffer.read()


def main():
    # Libraries print to stdout; the protocol has it for itself.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if "--listen" in sys.argv[1:]:
        listen(out)
    else:
        Answers().serve(sys.stdin.buffer, out)


if __name__ == "__main__":
    main()
