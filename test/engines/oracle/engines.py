"""Light engines (delta-rs, DuckDB, pyiceberg) and the client side of the Spark engine.
Every operation returns a list of canonical values (see canon.py)."""
import datetime, json, os, re, threading
import pyarrow as pa
from . import canon
from .ice_meta import find_metadata, load_metadata, strip_scheme


class Unsupported(Exception):
    pass


# ------------------------------------------------------------------ types
def arrow_type(t):
    if isinstance(t, pa.BaseExtensionType):
        n = t.extension_name
        return {"arrow.uuid": "uuid"}.get(n, arrow_type(t.storage_type))
    p = pa.types
    if p.is_dictionary(t):
        return arrow_type(t.value_type)
    for f, n in ((p.is_boolean, "boolean"), (p.is_int8, "byte"), (p.is_int16, "short"), (p.is_int32, "int"), (p.is_int64, "bigint"), (p.is_float32, "float"), (p.is_float64, "double"), (p.is_date, "date"), (p.is_null, "void")):
        if f(t):
            return n
    if p.is_decimal(t):
        return "decimal(%d,%d)" % (t.precision, t.scale)
    if p.is_timestamp(t):
        return ("timestamp" if t.tz else "timestamp_ntz") + ("_ns" if t.unit == "ns" else "")
    if p.is_time(t):
        return "time"
    if p.is_string(t) or p.is_large_string(t) or t == pa.string_view():
        return "string"
    if p.is_fixed_size_binary(t):
        return "binary"
    if p.is_binary(t) or p.is_large_binary(t) or t == pa.binary_view():
        return "binary"
    if p.is_map(t):
        return "map<%s,%s>" % (arrow_type(t.key_type), arrow_type(t.item_type))
    if p.is_list(t) or p.is_large_list(t):
        return "array<%s>" % arrow_type(t.value_type)
    if p.is_struct(t):
        return "struct<%s>" % ",".join("%s:%s" % (t.field(i).name, arrow_type(t.field(i).type)) for i in range(t.num_fields))
    return str(t)


def spark_type(t):
    if isinstance(t, str):
        return {"integer": "int", "long": "bigint"}.get(t, t)
    if t["type"] == "struct":
        return "struct<%s>" % ",".join("%s:%s" % (f["name"], spark_type(f["type"])) for f in t["fields"])
    if t["type"] == "array":
        return "array<%s>" % spark_type(t["elementType"])
    if t["type"] == "map":
        return "map<%s,%s>" % (spark_type(t["keyType"]), spark_type(t["valueType"]))
    return json.dumps(t)


def ice_type(t):
    if isinstance(t, str):
        t = t.replace(" ", "")
        m = {"long": "bigint", "timestamptz": "timestamp", "timestamp": "timestamp_ntz", "timestamptz_ns": "timestamp_ns", "timestamp_ns": "timestamp_ntz_ns", "unknown": "void"}
        return "binary" if t.startswith("fixed") else m.get(t, t)
    if t["type"] == "struct":
        return "struct<%s>" % ",".join("%s:%s" % (f["name"], ice_type(f["type"])) for f in t["fields"])
    if t["type"] == "list":
        return "array<%s>" % ice_type(t["element"])
    return "map<%s,%s>" % (ice_type(t["key"]), ice_type(t["value"]))


# ------------------------------------------------------------------ delta-rs
class DeltaRs:
    name = "delta-rs"
    fmt = "delta"

    def _t(self, a):
        from deltalake import DeltaTable
        if a.get("version") is not None:
            return DeltaTable(a["path"], version=int(a["version"]), storage_options=a.get("storage"))
        t = DeltaTable(a["path"], storage_options=a.get("storage"))
        if a.get("timestamp") is not None:
            t.load_as_version(a["timestamp"])
        return t

    def _q(self, a, sql):
        from deltalake import QueryBuilder
        r = QueryBuilder().register("t", self._t(a)).execute(sql)
        return pa.table(r) if not hasattr(r, "read_all") else pa.table(r.read_all())

    def rows(self, a):
        return canon.table_rows(self._q(a, "select * from t" + (" where " + a["filter"] if a.get("filter") else "")))

    def schema(self, a):
        t = self._t(a)
        part = t.metadata().partition_columns
        return [{"pos": i, "name": f["name"], "type": spark_type(f["type"]), "nullable": f["nullable"], "partition": f["name"] in part, "metadata": f.get("metadata") or {}}
                for i, f in enumerate(json.loads(t.schema().to_json())["fields"])]

    def history(self, a):
        out = []
        for h in self._t(a).history():
            out.append({"version": h.get("version"), "operation": h.get("operation"), "operationMetrics": {k: str(v) for k, v in (h.get("operationMetrics") or {}).items()}, "operationParameters": h.get("operationParameters"), "engineInfo": h.get("engineInfo")})
        return sorted(out, key=lambda x: x["version"] if x["version"] is not None else -1)

    def changes(self, a):
        kw = {}
        if a.get("from") is not None:
            kw["starting_version"] = int(a["from"])
        if a.get("to") is not None:
            kw["ending_version"] = int(a["to"])
        if a.get("from_timestamp"):
            kw["starting_timestamp"] = a["from_timestamp"]
        if a.get("to_timestamp"):
            kw["ending_timestamp"] = a["to_timestamp"]
        from deltalake import DeltaTable
        t = DeltaTable(a["path"], storage_options=a.get("storage"))
        return canon.table_rows(pa.table(t.load_cdf(**kw).read_all()))

    def files(self, a):
        t = self._t(a)
        tb = pa.table(t.get_add_actions(flatten=False))
        return [{"path": r["path"], "size": r["size_bytes"]} for r in canon.table_rows(tb.select(["path", "size_bytes"]))]


# ------------------------------------------------------------------ DuckDB
class DuckLocal:
    name = "duckdb"

    def _c(self):
        import duckdb, importlib
        c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        c.execute("set TimeZone='UTC'")
        for e in ("avro", "delta", "iceberg"):
            m = importlib.import_module("duckdb_extension_" + e)
            d = os.path.dirname(m.__file__)
            f = next(os.path.join(r, x) for r, _, fs in os.walk(d) for x in fs if x.endswith(".duckdb_extension"))
            c.execute("LOAD '%s'" % f)
        return c

    def _arrow(self, c, sql):
        r = c.execute(sql)
        r = r.to_arrow_table() if hasattr(r, "to_arrow_table") else r.fetch_arrow_table()
        return r

    def _src(self, a):
        p = a["path"].replace("'", "''")
        if a["format"] == "delta":
            if a.get("timestamp") is not None:
                raise Unsupported("no time travel by timestamp")
            return "delta_scan('%s'%s)" % (p, ", version => %d" % int(a["version"]) if a.get("version") is not None else "")
        p = find_metadata(a["path"]).replace("'", "''")
        o = ""
        if a.get("snapshot_id") is not None:
            o = ", snapshot_from_id => %d::ubigint" % int(a["snapshot_id"])
        if a.get("timestamp") is not None:
            o = ", snapshot_from_timestamp => make_timestamp(%d::bigint*1000)" % int(a["timestamp"])
        if a.get("ref") is not None:
            md = load_metadata(a["path"])[1]
            o = ", snapshot_from_id => %d::ubigint" % md["refs"][a["ref"]]["snapshot-id"]
        return "iceberg_scan('%s'%s)" % (p, o)

    def rows(self, a):
        return canon.table_rows(self._arrow(self._c(), "select * from %s%s" % (self._src(a), " where " + a["filter"] if a.get("filter") else "")))

    def schema(self, a):
        t = self._arrow(self._c(), "select * from %s limit 0" % self._src(a))
        return [{"pos": i, "name": f.name, "type": arrow_type(f.type)} for i, f in enumerate(t.schema)]

    def history(self, a):
        if a["format"] == "delta":
            raise Unsupported("no history")
        t = self._arrow(self._c(), "select * from iceberg_snapshots('%s')" % find_metadata(a["path"]).replace("'", "''"))
        return [{"snapshot_id": str(r["snapshot_id"]), "manifest_list": r["manifest_list"]} for r in canon.table_rows(t)]

    def changes(self, a):
        raise Unsupported("no change feed")

    def files(self, a):
        c = self._c()
        if a["format"] == "delta":
            t = canon.table_rows(self._arrow(c, "select * from delta_list_files('%s'%s)" % (a["path"].replace("'", "''"), ", version => %d" % int(a["version"]) if a.get("version") is not None else "")))
            return [{"path": next(x[k] for k in x if "path" in k.lower() or "file" in k.lower() and isinstance(x[k], str))} for x in t]
        o = ", snapshot_from_id => %d::ubigint" % int(a["snapshot_id"]) if a.get("snapshot_id") is not None else ""
        t = canon.table_rows(self._arrow(c, "select * from iceberg_metadata('%s'%s)" % (find_metadata(a["path"]).replace("'", "''"), o)))
        return [{"path": r["file_path"], "content": r.get("content"), "record_count": r.get("record_count")} for r in t if r.get("status") != "DELETED"]


class DuckError(Exception):
    pass


class Duck:
    """DuckDB in a child process: its Avro extension ends the whole process on an unknown codec"""
    name = "duckdb"
    _p = None
    _lock = threading.Lock()

    def _call(self, op, a):
        with Duck._lock:
            return self._ask(op, a)

    def _ask(self, op, a):
        import subprocess, sys, tempfile
        if Duck._p is None or Duck._p.poll() is not None:
            Duck._err = tempfile.TemporaryFile()
            env = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            Duck._p = subprocess.Popen([sys.executable, "-m", "oracle.duck_worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=Duck._err, env=env)
        try:
            Duck._p.stdin.write((json.dumps({"op": op, "a": a}) + "\n").encode())
            Duck._p.stdin.flush()
            line = Duck._p.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            Duck._p.wait()
            Duck._err.seek(0)
            text = Duck._err.read()[-400:].decode("utf-8", "replace")
            Duck._p = None
            raise DuckError("process aborted: " + " ".join(text.split()))
        r = json.loads(line)
        if r["ok"]:
            return r["rows"]
        if r["kind"] == "Unsupported":
            raise Unsupported(r["message"])
        raise DuckError(r["message"])

    def _c(self):
        return DuckLocal()._c()


for _op in ("rows", "schema", "history", "changes", "files"):
    setattr(Duck, _op, (lambda o: lambda self, a: self._call(o, a))(_op))


# ------------------------------------------------------------------ pyiceberg
class PyIce:
    name = "pyiceberg"
    fmt = "iceberg"

    def _t(self, a):
        from pyiceberg.table import StaticTable
        if a.get("catalog"):
            from . import pyiceberg_ops
            return pyiceberg_ops.catalog(a).load_table(a["table"])
        return StaticTable.from_metadata(find_metadata(a["path"]), a.get("storage") or {})

    def _snap(self, t, a):
        if a.get("snapshot_id") is not None:
            return int(a["snapshot_id"])
        if a.get("timestamp") is not None:
            s = t.snapshot_as_of_timestamp(int(a["timestamp"]))
            if s is None:
                raise ValueError("no snapshot at or before " + str(a["timestamp"]))
            return s.snapshot_id
        if a.get("ref") is not None:
            return t.metadata.refs[a["ref"]].snapshot_id
        return None

    def rows(self, a):
        t = self._t(a)
        kw = {}
        s = self._snap(t, a)
        if s is not None:
            kw["snapshot_id"] = s
        if a.get("filter"):
            kw["row_filter"] = a["filter"]
        sc = t.scan(**kw)
        if a.get("ref") is not None:                      # a branch reads with the table's current schema
            ty = t.metadata.refs[a["ref"]].snapshot_ref_type
            if str(ty).lower().endswith("branch"):
                want = [f.name for f in t.schema().fields]
                have = [f.name for f in sc.projection().fields]
                if want != have:
                    raise Unsupported("branch read with newer schema")
        return canon.table_rows(sc.to_arrow())

    def schema(self, a):
        t = self._t(a)
        s = self._snap(t, a)
        sch = t.schema()
        if s is not None:
            sid = t.metadata.snapshot_by_id(s).schema_id
            sch = next((x for x in t.metadata.schemas if x.schema_id == sid), sch)
        j = json.loads(sch.model_dump_json(by_alias=True))
        return [{"pos": i, "id": f["id"], "name": f["name"], "type": ice_type(f["type"]), "nullable": not f["required"]} for i, f in enumerate(j["fields"])]

    def history(self, a):
        t = self._t(a)
        return [{"snapshot_id": str(s.snapshot_id), "parent_id": None if s.parent_snapshot_id is None else str(s.parent_snapshot_id),
                 "operation": s.summary.operation.value if s.summary else None,
                 "summary": {k: v for k, v in (s.summary.additional_properties if s.summary else {}).items()}, "manifest_list": s.manifest_list} for s in t.metadata.snapshots]

    def changes(self, a):
        raise Unsupported("no changelog scan")

    def files(self, a):
        t = self._t(a)
        s = self._snap(t, a)
        r = canon.table_rows(t.inspect.files(s).select(["content", "file_path", "record_count", "file_size_in_bytes"]))
        return [{"path": x["file_path"], "content": ["DATA", "POSITION_DELETES", "EQUALITY_DELETES"][x["content"]], "record_count": x["record_count"], "size": x["file_size_in_bytes"]} for x in r]


# ------------------------------------------------------------------ Spark
class SparkEngine:
    """One driver for the process; configuration and views of its own for each instance."""
    name = "spark"
    _driver = None
    _lock = threading.Lock()

    def __init__(self, port=None):
        self.port = port
        self._ops = None

    def _start(self):
        from . import spark_session, spark_ops
        with SparkEngine._lock:
            if SparkEngine._driver is None:
                SparkEngine._driver = spark_session.build()
            self._ops = spark_ops.Ops(SparkEngine._driver.newSession())

    def call(self, cmd, a):
        a = dict(a, cmd=cmd)
        from . import spark_ops
        if self._ops is None:
            self._start()
        try:
            return getattr(self._ops, cmd)(a)
        except Exception as e:
            raise SparkError(spark_ops.err(e))

    def rows(self, a):
        return self.call("rows", a)

    def schema(self, a):
        s = self.call("schema", a)[0]
        return [{"pos": i, "name": f["name"], "type": spark_type(f["type"]), "nullable": f["nullable"], "metadata": f.get("metadata") or {}} for i, f in enumerate(s["fields"])]

    def history(self, a):
        h = self.call("history", a)
        if a["format"] == "delta":
            return [{"version": r["version"], "operation": r["operation"], "operationMetrics": dict(r["operationMetrics"] or []), "operationParameters": dict(r["operationParameters"] or []), "engineInfo": r["engineInfo"], "timestamp": r["timestamp"], "readVersion": r["readVersion"], "isBlindAppend": r["isBlindAppend"], "isolationLevel": r["isolationLevel"], "userMetadata": r["userMetadata"]} for r in h]
        return [{"snapshot_id": str(r["snapshot_id"]), "parent_id": None if r["parent_id"] is None else str(r["parent_id"]), "operation": r["operation"], "summary": dict(r["summary"] or []), "manifest_list": r["manifest_list"], "committed_at": r["committed_at"]} for r in h]

    def changes(self, a):
        return self.call("changes", a)

    def files(self, a):
        f = self.call("files", a)
        if a["format"] == "delta":
            return [{"path": x} for x in f]
        return [{"path": x["file_path"], "content": ["DATA", "POSITION_DELETES", "EQUALITY_DELETES"][x["content"]], "record_count": x["record_count"], "size": x["file_size_in_bytes"]} for x in f]


class SparkError(Exception):
    def __init__(self, d):
        self.detail = d
        super().__init__((d.get("condition") or (d.get("java") or [{}])[0].get("class") or d.get("python") or "") + ": " + d.get("message", "")[:600])


def available(fmt, spark_port=None):
    if fmt == "delta":
        return [DeltaRs(), Duck(), SparkEngine(spark_port)]
    return [PyIce(), Duck(), SparkEngine(spark_port)]
