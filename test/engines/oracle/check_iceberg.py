import base64, collections, datetime, decimal, gzip, json, math, os, re, struct, uuid
import fastavro
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.compute as pc
from . import canon, roaring
from .ice_meta import load_metadata, strip_scheme


def mm3(data):
    c1, c2, h = 0xCC9E2D51, 0x1B873593, 0
    n = len(data) // 4 * 4
    rot = lambda x, r: ((x << r) | (x >> (32 - r))) & 0xFFFFFFFF
    for i in range(0, n, 4):
        k = struct.unpack_from("<I", data, i)[0] * c1 & 0xFFFFFFFF
        h ^= rot(k, 15) * c2 & 0xFFFFFFFF
        h = (rot(h, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    k = int.from_bytes(data[n:], "little")
    if data[n:]:
        h ^= rot(k * c1 & 0xFFFFFFFF, 15) * c2 & 0xFFFFFFFF
    h ^= len(data)
    for m in (0x85EBCA6B, 0xC2B2AE35):
        h = ((h ^ (h >> (16 if m == 0x85EBCA6B else 13))) * m) & 0xFFFFFFFF
    return h ^ (h >> 16)


EPOCH = datetime.date(1970, 1, 1)


def raw(col):
    """python values: ints for date/time/timestamps (days, micros), Decimal, bytes, str, float"""
    t = col.type
    if isinstance(t, pa.BaseExtensionType):
        col = col.storage if not isinstance(col, pa.ChunkedArray) else pa.chunked_array([c.storage for c in col.chunks], t.storage_type)
        t = col.type
    if pa.types.is_date32(t):
        return col.cast(pa.int32()).to_pylist()
    if pa.types.is_timestamp(t) or pa.types.is_time64(t):
        f = {"ns": 1, "us": 1, "ms": 1000, "s": 1000000}[t.unit]
        return [None if x is None else x * f for x in col.cast(pa.int64()).to_pylist()]
    if pa.types.is_dictionary(t):
        return col.cast(t.value_type).to_pylist()
    return col.to_pylist()


def dec_bytes(u):
    n = max(1, (u.bit_length() + 8) // 8)
    return u.to_bytes(n, "big", signed=True)


def unscaled(d):
    s, dg, e = d.as_tuple()
    return (-1 if s else 1) * int("".join(map(str, dg)))


def transform(tr, typ, v):
    if v is None or tr == "void":
        return None
    if tr == "identity":
        return v
    m = re.fullmatch(r"(bucket|truncate)\[(\d+)\]", tr)
    if m:
        w = int(m[2])
        if m[1] == "bucket":
            if isinstance(v, decimal.Decimal):
                b = dec_bytes(unscaled(v))
            elif isinstance(v, str):
                b = v.encode()
            elif isinstance(v, (bytes, bytearray)):
                b = bytes(v)
            else:
                b = struct.pack("<q", v // 1000 if typ.endswith("_ns") else v)
            return (mm3(b) & 0x7FFFFFFF) % w
        if isinstance(v, decimal.Decimal):
            u = unscaled(v)
            s = -v.as_tuple().exponent
            return decimal.Decimal(u - u % w).scaleb(-s)
        if isinstance(v, (str, bytes)):
            return v[:w]
        return v - v % w
    if tr in ("year", "month", "day", "hour"):
        us = v * 86400000000 if typ == "date" else (v // 1000 if typ.endswith("_ns") else v)
        days = us // 86400000000
        if tr == "hour":
            return us // 3600000000
        if tr == "day":
            return days
        y, mo, _ = canon.civil(days)
        return y - 1970 if tr == "year" else (y - 1970) * 12 + mo - 1
    raise ValueError("unknown transform " + tr)


def decode(typ, b):
    if typ == "boolean":
        return b != b"\x00"
    if typ in ("int", "date"):
        return struct.unpack("<i" if len(b) == 4 else "<q", b)[0]
    if typ in ("long", "time") or typ.startswith("timestamp"):
        return struct.unpack("<q", b)[0] if len(b) == 8 else struct.unpack("<i", b)[0]
    if typ == "float":
        return struct.unpack("<f" if len(b) == 4 else "<d", b)[0]
    if typ == "double":
        return struct.unpack("<d", b)[0] if len(b) == 8 else struct.unpack("<f", b)[0]
    if typ == "string":
        return b.decode()
    if typ.startswith("decimal"):
        s = int(re.findall(r"\d+", typ)[1])
        return decimal.Decimal(int.from_bytes(b, "big", signed=True)).scaleb(-s, decimal.Context(prec=60))
    return b


def fields_of(schema):
    """id -> (path, type, required) of every leaf and node; second: ids inside lists or maps"""
    out, repeated = {}, set()

    def walk(t, path, rep):
        if isinstance(t, str):
            return
        if t["type"] == "struct":
            for f in t["fields"]:
                out[f["id"]] = (path + (f["name"],), f["type"], f["required"])
                if rep:
                    repeated.add(f["id"])
                walk(f["type"], path + (f["name"],), rep)
        elif t["type"] == "list":
            out[t["element-id"]] = (path + ("element",), t["element"], t["element-required"])
            repeated.add(t["element-id"])
            walk(t["element"], path + ("element",), True)
        else:
            for k in ("key", "value"):
                out[t[k + "-id"]] = (path + (k,), t[k], k == "key" or t["value-required"])
                repeated.add(t[k + "-id"])
                walk(t[k], path + (k,), True)
    walk(schema, (), False)
    return out, repeated


def avro(p):
    with open(p, "rb") as f:
        rd = fastavro.reader(f)
        meta = {k: (v if isinstance(v, str) else v.decode("utf-8", "replace")) for k, v in rd.metadata.items()}
        return meta, json.loads(meta["avro.schema"]), list(rd)


def find_field(schema, name):
    for f in schema["fields"]:
        if f["name"] == name:
            return f


def kv(x):
    return None if x is None else (x if isinstance(x, dict) else {e["key"]: e["value"] for e in x})


def val(v):
    """Avro logical values back to raw ones"""
    if isinstance(v, datetime.datetime):
        d = (v.replace(tzinfo=None) - datetime.datetime(1970, 1, 1))
        return (d.days * 86400 + d.seconds) * 1000000 + d.microseconds
    if isinstance(v, datetime.date):
        return (v - EPOCH).days
    if isinstance(v, uuid.UUID):
        return v.bytes
    if isinstance(v, datetime.time):
        return ((v.hour * 60 + v.minute) * 60 + v.second) * 1000000 + v.microsecond
    return v


def check(path, r, allow_orphans, content):
    mdfile, md = load_metadata(path)
    loc = strip_scheme(md["location"])
    here = os.path.dirname(os.path.dirname(mdfile))
    fv = md["format-version"]
    referenced = {os.path.realpath(mdfile)}

    def loc_of(p):
        return strip_scheme(p)

    # ---------------- metadata
    E = lambda rule, text, where=None: r.error(rule, where or os.path.basename(mdfile), text)
    if fv not in (1, 2, 3):
        return E("format-version", "unsupported %r" % fv)
    need = ["format-version", "location", "last-updated-ms", "last-column-id"] + (["table-uuid", "last-sequence-number", "schemas", "current-schema-id", "partition-specs", "default-spec-id", "last-partition-id", "sort-orders", "default-sort-order-id"] if fv > 1 else ["schema", "partition-spec"]) + (["next-row-id"] if fv > 2 else [])
    for k in need:
        if k not in md:
            E("metadata-required", "missing " + k)
    schemas = {s.get("schema-id", 0): s for s in (md.get("schemas") or [md["schema"]])}
    specs = {s["spec-id"]: s["fields"] for s in (md.get("partition-specs") or [{"spec-id": 0, "fields": md["partition-spec"]}])}
    cs = schemas.get(md.get("current-schema-id", 0))
    if cs is None:
        return E("current-schema", md.get("current-schema-id"))
    allf = {}
    for s in schemas.values():
        f, rep = fields_of(s)
        for i, x in f.items():
            allf.setdefault(i, x)
        if f and max(f) > md["last-column-id"]:
            E("last-column-id", "%d < %d" % (md["last-column-id"], max(f)))
    if md.get("default-spec-id", 0) not in specs:
        E("default-spec-id", md.get("default-spec-id"))
    pids = [f["field-id"] for s in specs.values() for f in s if "field-id" in f]
    if fv > 1 and pids and max(pids) > md["last-partition-id"]:
        E("last-partition-id", "%d < %d" % (md["last-partition-id"], max(pids)))
    if fv > 1 and not pids and md["last-partition-id"] != 999:
        r.warn("last-partition-id", mdfile, "never-partitioned tables carry 999, found %s" % md["last-partition-id"])
    for s in specs.values():
        for f in s:
            if f["source-id"] not in allf and f["transform"] != "void":
                E("partition-source", f)
            if not re.fullmatch(r"identity|void|year|month|day|hour|(bucket|truncate)\[\d+\]", f["transform"]):
                r.warn("partition-transform", mdfile, "unknown transform " + f["transform"])
    orders = {o["order-id"] for o in md.get("sort-orders", [])}
    if fv > 1 and md.get("default-sort-order-id") not in orders:
        E("default-sort-order-id", md.get("default-sort-order-id"))
    cur = md.get("current-snapshot-id")
    cur = None if cur in (None, -1) else cur
    snaps = {s["snapshot-id"]: s for s in md.get("snapshots", [])}
    refs = md.get("refs", {})
    if cur is not None and cur not in snaps:
        E("current-snapshot", "%s is not in snapshots" % cur)
    if refs:
        if cur is not None and refs.get("main", {}).get("snapshot-id") != cur:
            E("refs-main", "main %s, current-snapshot-id %s" % (refs.get("main"), cur))
        for n, x in refs.items():
            if x["snapshot-id"] not in snaps:
                E("refs", "%s points at a missing snapshot" % n)
    lg = md.get("snapshot-log", [])
    if lg and cur is not None and lg[-1]["snapshot-id"] != cur:
        E("snapshot-log", "last entry is not the current snapshot")
    for a, b in zip(lg, lg[1:] + [{"timestamp-ms": md["last-updated-ms"]}]):
        if b["timestamp-ms"] - a["timestamp-ms"] < -60000:
            E("snapshot-log", "time goes back by more than a minute")
    ml = md.get("metadata-log", [])
    for a, b in zip(ml, ml[1:] + [{"timestamp-ms": md["last-updated-ms"]}]):
        if b["timestamp-ms"] - a["timestamp-ms"] < -60000:
            E("metadata-log", "time goes back by more than a minute")
    for m in ml:
        referenced.add(os.path.realpath(loc_of(m["metadata-file"])))
        if not os.path.exists(loc_of(m["metadata-file"])):
            r.warn("metadata-log", m["metadata-file"], "file is gone")
    seqs = [s.get("sequence-number", 0) for s in snaps.values()]
    if fv > 1:
        if len(set(s for s in seqs if s)) != len([s for s in seqs if s]):
            E("sequence-number", "duplicates: %s" % seqs)
        if seqs and max(seqs) > md["last-sequence-number"]:
            E("last-sequence-number", "%d < %d" % (md["last-sequence-number"], max(seqs)))
    for s in snaps.values():
        sid = s.get("schema-id")
        if sid is not None and sid not in schemas:
            E("snapshot-schema", "%s" % sid)
        seen, p = set(), s
        while p is not None:
            if p["snapshot-id"] in seen:
                E("snapshot-cycle", s["snapshot-id"])
                break
            seen.add(p["snapshot-id"])
            p = snaps.get(p.get("parent-snapshot-id"))
        if s.get("parent-snapshot-id") in snaps and fv > 1 and snaps[s["parent-snapshot-id"]].get("sequence-number", 0) >= s.get("sequence-number", 0) > 0:
            E("sequence-number", "snapshot %d not above its parent" % s["snapshot-id"])
    for k in ("statistics", "partition-statistics"):
        for x in md.get(k, []):
            p = loc_of(x["statistics-path"])
            referenced.add(os.path.realpath(p))
            if not os.path.exists(p):
                E(k, "missing " + x["statistics-path"])
            elif os.path.getsize(p) != x["file-size-in-bytes"]:
                E(k, "size of " + x["statistics-path"])
            else:
                r.ok(k)
    r.ok("metadata-files")

    # ---------------- snapshots
    manifests, entries_of = {}, {}
    checked_files = {}
    uuids = lambda p: os.path.basename(p)
    for s in sorted(snaps.values(), key=lambda s: (s.get("sequence-number", 0), s["timestamp-ms"])):
        w = "snapshot %d" % s["snapshot-id"]
        if "manifest-list" not in s:
            mls = [{"manifest_path": p, "manifest_length": os.path.getsize(loc_of(p)), "partition_spec_id": 0, "content": 0, "added_snapshot_id": s["snapshot-id"]} for p in s.get("manifests", [])]
        else:
            p = loc_of(s["manifest-list"])
            referenced.add(os.path.realpath(p))
            if not os.path.exists(p):
                r.error("manifest-list-missing", w, s["manifest-list"])
                continue
            try:
                meta, sch, mls = avro(p)
            except Exception as e:
                r.error("manifest-list-unreadable", w, e)
                continue
            for k, want in (("snapshot-id", s["snapshot-id"]), ("sequence-number", s.get("sequence-number"))):
                if k in meta and want is not None and meta[k] != str(want):
                    r.error("manifest-list-header", w, "%s %s, expected %s" % (k, meta[k], want))
            for f in sch["fields"]:
                if "field-id" not in f:
                    r.error("avro-field-id", w, "manifest list field %s has no field-id" % f["name"])
            r.ok("manifest-lists")
        live = {"data": {}, "pos": {}, "eq": {}, "dv": {}}
        added, removed = [], []
        for m in mls:
            mp = loc_of(m["manifest_path"])
            referenced.add(os.path.realpath(mp))
            if not os.path.exists(mp):
                r.error("manifest-missing", w, m["manifest_path"])
                continue
            if os.path.getsize(mp) != m["manifest_length"]:
                r.error("manifest-length", w, "%s: %d, list says %d" % (uuids(mp), os.path.getsize(mp), m["manifest_length"]))
            if mp not in manifests:
                try:
                    manifests[mp] = avro(mp)
                except Exception as e:
                    r.error("manifest-unreadable", w, e)
                    manifests[mp] = None
                if manifests[mp]:
                    meta, sch, ents = manifests[mp]
                    df = find_field(sch, "data_file")["type"]
                    for f in sch["fields"] + df["fields"]:
                        if "field-id" not in f:
                            r.error("avro-field-id", uuids(mp), f["name"])
                    if meta.get("partition-spec-id") != str(m["partition_spec_id"]):
                        r.error("manifest-header", uuids(mp), "partition-spec-id %s, list %s" % (meta.get("partition-spec-id"), m["partition_spec_id"]))
                    if "schema" not in meta or "partition-spec" not in meta:
                        r.error("manifest-header", uuids(mp), "schema or partition-spec missing")
                    if fv > 1 and meta.get("content", "data") != ("deletes" if m.get("content") else "data"):
                        r.error("manifest-header", uuids(mp), "content %s" % meta.get("content"))
                    # counts
                    c = collections.Counter(e["status"] for e in ents)
                    rows = collections.Counter()
                    for e in ents:
                        rows[e["status"]] += e["data_file"]["record_count"]
                    for st, a, b in ((1, "added_files_count", "added_rows_count"), (0, "existing_files_count", "existing_rows_count"), (2, "deleted_files_count", "deleted_rows_count")):
                        for name, real in ((a, c[st]), (b, rows[st])):
                            v = m.get(name, m.get(name.replace("_files_", "_data_files_")))
                            if v is not None and v != real:
                                r.error("manifest-counts", uuids(mp), "%s %s, really %s" % (name, v, real))
                    # partition summaries
                    spec = specs.get(m["partition_spec_id"], [])
                    ps = m.get("partitions")
                    if ps is not None and len(ps) != len(spec):
                        r.error("partition-summaries", uuids(mp), "%d for %d fields" % (len(ps), len(spec)))
                    elif ps:
                        for i, (f, p_) in enumerate(zip(spec, ps)):
                            vs = [val(list(e["data_file"]["partition"].values())[i]) for e in ents if e["data_file"]["partition"]]
                            if any(v is None for v in vs) and not p_["contains_null"]:
                                r.error("partition-summaries", uuids(mp), "%s: contains_null is false" % f["name"])
                            nn = [v for v in vs if v is not None and not (isinstance(v, float) and math.isnan(v))]
                            src = allf.get(f["source-id"], (None, "int"))[1]
                            rt = src if f["transform"] == "identity" or f["transform"].startswith("truncate") else "int"
                            try:
                                if nn and p_.get("lower_bound") is not None and decode(rt, p_["lower_bound"]) > min(nn):
                                    r.error("partition-summaries", uuids(mp), "%s lower bound above %s" % (f["name"], min(nn)))
                                if nn and p_.get("upper_bound") is not None and decode(rt, p_["upper_bound"]) < max(nn):
                                    r.error("partition-summaries", uuids(mp), "%s upper bound below %s" % (f["name"], max(nn)))
                                r.ok("partition-summaries")
                            except TypeError as e:
                                r.warn("partition-summaries", uuids(mp), "%s: %s" % (f["name"], e))
                    r.ok("manifests")
            if not manifests[mp]:
                continue
            msn = m.get("sequence_number", 0) or 0
            lowest = None
            for e in manifests[mp][2]:
                d = e["data_file"]
                seq = e.get("sequence_number")
                fseq = e.get("file_sequence_number")
                if seq is None:
                    if e["status"] == 1 or fv == 1 or msn == 0:
                        seq = msn
                    else:
                        r.error("sequence-number", uuids(mp), "status %d without explicit number" % e["status"])
                        seq = 0
                snap = e.get("snapshot_id") or m.get("added_snapshot_id")
                if e["status"] != 2:
                    lowest = seq if lowest is None else min(lowest, seq)
                    k = {0: "data", 1: "dv" if d["file_format"].upper() == "PUFFIN" else "pos", 2: "eq"}[d.get("content") or 0]
                    key = (d["file_path"], d.get("content_offset"))
                    if key in live[k]:
                        r.error("duplicate-live-file", w, d["file_path"])
                    live[k][key] = (d, seq, m["partition_spec_id"])
                if snap == s["snapshot-id"]:
                    if e["status"] == 1:
                        added.append(d)
                    elif e["status"] == 2:
                        removed.append(d)
                referenced.add(os.path.realpath(loc_of(d["file_path"])))
            if lowest is not None and m.get("min_sequence_number") not in (None, 0) and m["min_sequence_number"] > lowest:
                r.error("min-sequence-number", uuids(mp), "%s > %s" % (m["min_sequence_number"], lowest))
        # summary
        sm = s.get("summary", {})
        nd, np_, ne = len(live["data"]), len(live["pos"]) + len(live["dv"]), len(live["eq"])
        rec = sum(d["record_count"] for d, _, _ in live["data"].values())
        pdel = sum(d["record_count"] for k in ("pos", "dv") for d, _, _ in live[k].values())
        edel = sum(d["record_count"] for d, _, _ in live["eq"].values())
        size = lambda k: sum((d["content_size_in_bytes"] if d.get("content_size_in_bytes") is not None and k == "dv" else d["file_size_in_bytes"]) for d, _, _ in live[k].values())
        for k, real in (("total-data-files", nd), ("total-delete-files", np_ + ne), ("total-records", rec), ("total-position-deletes", pdel), ("total-equality-deletes", edel), ("total-files-size", size("data") + size("pos") + size("eq") + size("dv"))):
            if k in sm and sm[k] != str(real):
                # add_files of Spark writes 0 for the size
                (r.warn if k == "total-files-size" else r.error)("summary-totals", w, "%s is %s, really %s" % (k, sm[k], real))
        for k, real in (("added-data-files", sum(1 for d in added if not d.get("content"))), ("deleted-data-files", sum(1 for d in removed if not d.get("content"))), ("added-records", sum(d["record_count"] for d in added if not d.get("content"))), ("deleted-records", sum(d["record_count"] for d in removed if not d.get("content")))):
            if int(sm.get(k, 0)) != real:
                r.error("summary-added", w, "%s is %s, really %s" % (k, sm.get(k), real))
        op = sm.get("operation")
        if op == "append" and (removed or any(d.get("content") for d in added)):
            r.error("operation", w, "append that removes files or adds deletes")
        if op not in ("append", "overwrite", "delete", "replace"):
            r.error("operation", w, op)
        r.ok("snapshots")
        if fv > 2 and "first-row-id" not in s and any(True for _ in live["data"]):
            r.warn("row-lineage", w, "no first-row-id (committed before the upgrade?)")
        # files of this snapshot
        datapaths = {d["file_path"]: (d, q, sp) for d, q, sp in live["data"].values()}
        for k in live:
            for (fp, off), (d, seq, sp) in live[k].items():
                if (fp, off) in checked_files:
                    continue
                checked_files[(fp, off)] = True
                one_file(r, fp, d, k, specs.get(sp, []), allf, schemas, cs, content, loc_of, datapaths)
    # ---------------- orphans
    for dp, ds, fs in os.walk(here):
        for f in fs:
            p = os.path.realpath(os.path.join(dp, f))
            if f == "version-hint.text" or f.startswith(".") or p in referenced:
                continue
            if os.path.basename(dp) == "metadata" and f.endswith(("metadata.json", "metadata.json.gz")):
                r.ok("older-metadata-files")
                continue
            if allow_orphans:
                r.ok("orphans")
            else:
                r.warn("orphan", os.path.relpath(p, os.path.realpath(here)), "not referenced by any snapshot")
    hint = os.path.join(here, "metadata", "version-hint.text")
    if os.path.exists(hint):
        n = open(hint).read().strip()
        m = re.match(r"v(\d+)[.]", os.path.basename(mdfile))
        if m and m[1] != n:
            r.warn("version-hint", hint, "hint %s, newest metadata %s" % (n, m[1]))


def one_file(r, fp, d, kind, spec, allf, schemas, cs, content, loc_of, datapaths):
    p = loc_of(fp)
    w = os.path.basename(fp)
    if not os.path.exists(p):
        return r.error("file-missing", w, fp)
    if os.path.getsize(p) != d["file_size_in_bytes"]:
        r.error("file-size", w, "%d on disk, manifest %d" % (os.path.getsize(p), d["file_size_in_bytes"]))
    r.ok("files-" + kind)
    fmt = d["file_format"].upper()
    if fmt not in ("PARQUET", "AVRO", "ORC", "PUFFIN"):
        return r.error("file-format", w, fmt)
    if kind == "dv":
        b = open(p, "rb").read()
        try:
            if b[:4] != b"PFA1" or b[-4:] != b"PFA1":
                r.error("puffin", w, "magic")
            o, n = d["content_offset"], d["content_size_in_bytes"]
            pos = roaring.framed(b[o:o + n], 0, None)
            if len(pos) != d["record_count"]:
                r.error("dv-cardinality", w, "%d positions, record_count %d" % (len(pos), d["record_count"]))
            t = datapaths.get(d.get("referenced_data_file"))
            if t is None:
                r.error("dv-reference", w, "referenced_data_file %s is not live" % d.get("referenced_data_file"))
            elif pos and max(pos) >= t[0]["record_count"]:
                r.error("dv-range", w, max(pos))
        except Exception as e:
            r.error("dv", w, e)
        return
    if fmt == "AVRO":
        try:
            with open(p, "rb") as f:
                n = sum(1 for _ in fastavro.reader(f))
            if n != d["record_count"]:
                r.error("record-count", w, "%d rows, manifest %d" % (n, d["record_count"]))
        except Exception as e:
            r.error("avro", w, e)
        return
    if fmt == "ORC":
        try:
            import pyarrow.orc as orc
            n = orc.ORCFile(p).nrows
            if n != d["record_count"]:
                r.error("record-count", w, "%d rows, manifest %d" % (n, d["record_count"]))
        except Exception as e:
            r.error("orc", w, e)
        return
    try:
        pf = pq.ParquetFile(p)
    except Exception as e:
        return r.error("parquet", w, e)
    if pf.metadata.num_rows != d["record_count"]:
        r.error("record-count", w, "%d rows, manifest %d" % (pf.metadata.num_rows, d["record_count"]))
    so = d.get("split_offsets")
    if so is not None:
        real = []
        for i in range(pf.metadata.num_row_groups):
            c = pf.metadata.row_group(i).column(0)
            real.append(min(x for x in (c.dictionary_page_offset, c.data_page_offset) if x))
        if list(so) != real:
            r.warn("split-offsets", w, "%s, row groups start at %s" % (so, real))
    # field ids of every named node
    ids = {}

    def walk(f, path):
        i = (f.metadata or {}).get(b"PARQUET:field_id")
        t = f.type
        if i is None:
            ids.setdefault("missing", []).append("/".join(path))
        else:
            ids[int(i)] = path
        if isinstance(t, pa.BaseExtensionType):
            t = t.storage_type
        if pa.types.is_struct(t):
            for k in range(t.num_fields):
                walk(t.field(k), path + (t.field(k).name,))
        elif pa.types.is_map(t):
            walk(t.key_field, path + ("key",))
            walk(t.item_field, path + ("value",))
        elif pa.types.is_list(t):
            walk(t.value_field, path + ("element",))
    for f in pf.schema_arrow:
        walk(f, (f.name,))
    if "missing" in ids and kind == "data":
        r.warn("parquet-field-ids", w, "no field id on %s" % ids["missing"][:4])
    if not content:
        return
    tb = pf.read()
    if kind == "pos":
        ps, fs = tb.column("pos").to_pylist(), tb.column("file_path").to_pylist()
        z = list(zip(fs, ps))
        if z != sorted(z, key=lambda x: (x[0].encode(), x[1])):
            r.error("position-delete-order", w, "not sorted by file_path, pos")
        dead = [x for x in set(fs) if x not in datapaths]
        if dead:
            r.warn("position-delete-dangling", w, dead[:2])
        for f_, q in z:
            if f_ in datapaths and q >= datapaths[f_][0]["record_count"]:
                r.error("position-delete-range", w, (f_, q))
                break
        return
    cols = {}
    for f in pf.schema_arrow:
        i = (f.metadata or {}).get(b"PARQUET:field_id")
        if i is not None:
            cols[int(i)] = tb.column(f.name)

    def column(i):
        """values of a non-repeated leaf by field id"""
        if i in cols:
            return cols[i]
        pth = ids.get(i)
        if not pth:
            return None
        c = tb.column(pth[0]).combine_chunks()
        for k in pth[1:]:
            if not pa.types.is_struct(c.type):
                return None
            valid = c.is_valid()
            c = pc.if_else(valid, pc.struct_field(c, k), None)
        return c
    vc, nc, nan = kv(d.get("value_counts")), kv(d.get("null_value_counts")), kv(d.get("nan_value_counts"))
    lo, hi = kv(d.get("lower_bounds")), kv(d.get("upper_bounds"))
    for i, n in (nc or {}).items():
        c = column(i)
        if c is None or i not in allf or not isinstance(allf[i][1], str):
            continue
        try:
            if c.null_count != n:
                r.error("null-counts", w, "field %d: %d, really %d" % (i, n, c.null_count))
            if vc and i in vc and vc[i] != len(c):
                r.error("value-counts", w, "field %d: %d, really %d" % (i, vc[i], len(c)))
            r.ok("null-counts")
        except Exception:
            pass
    for b, cmp in ((lo, -1), (hi, 1)):
        for i, v in (b or {}).items():
            if i not in allf or not isinstance(allf[i][1], str):
                continue
            c = column(i)
            if c is None:
                continue
            t = allf[i][1].replace(" ", "")
            try:
                x = decode(t, v)
                vals = [y for y in raw(c) if y is not None and not (isinstance(y, float) and math.isnan(y))]
                if t == "string":
                    vals, x = [y.encode() for y in vals], x.encode()
                if t == "uuid":
                    vals = [y.bytes if hasattr(y, "bytes") else y for y in vals]
                if not vals:
                    r.error("bounds", w, "field %d has bounds but no values" % i)
                elif (cmp < 0 and min(vals) < x) or (cmp > 0 and max(vals) > x):
                    r.error("bounds", w, "field %d %s bound %r, values %r..%r" % (i, "lower" if cmp < 0 else "upper", x, min(vals), max(vals)))
                r.ok("bounds")
            except Exception as e:
                r.warn("bounds", w, "field %d (%s): %s" % (i, t, e))
    # every row has the partition tuple of its file
    part = list((d.get("partition") or {}).values())
    for f, pv in zip(spec, part):
        if f["transform"] == "void":
            continue
        c = column(f["source-id"])
        if c is None:
            continue
        pv = val(pv)
        t = allf[f["source-id"]][1]
        try:
            got = set()
            for y in set(map(lambda z: bytes(z) if isinstance(z, bytearray) else z, raw(c))):
                if hasattr(y, "bytes"):
                    y = y.bytes
                got.add(transform(f["transform"], t, y))
            same = len(got) <= 1 and all(g == pv or (isinstance(g, float) and isinstance(pv, float) and math.isnan(g) and math.isnan(pv)) for g in got)
            if not same:
                r.error("partition-values", w, "%s: manifest %r, rows give %r" % (f["name"], pv, sorted(map(str, got))[:3]))
            r.ok("partition-values")
        except Exception as e:
            r.warn("partition-values", w, "%s: %s" % (f["name"], e))
