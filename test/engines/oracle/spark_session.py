"""Builds one Spark session that can read and write Delta and Iceberg tables."""
import glob, os, tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def jar_dir():
    return os.environ.get("TIDEWATER_ENGINE_JARS") or os.path.join(HERE, "jars")


def build(master=None, memory=None, extra=None):
    work = tempfile.mkdtemp(prefix="oracle-spark-")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.pop("SPARK_HOME", None)
    os.environ["LC_ALL"] = os.environ["LANG"] = "C.UTF-8"      # otherwise the JVM cannot create non-ASCII file names
    conf_dir = os.path.join(work, "conf")
    os.makedirs(conf_dir)
    open(os.path.join(conf_dir, "log4j2.properties"), "w").write(
        "rootLogger.level=error\nrootLogger.appenderRef.c.ref=c\nappender.c.type=Console\nappender.c.name=c\n"
        "appender.c.target=SYSTEM_ERR\nappender.c.layout.type=PatternLayout\nappender.c.layout.pattern=%p %c{1}: %m%n\n")
    os.environ["SPARK_CONF_DIR"] = conf_dir
    from pyspark.sql import SparkSession
    jars = sorted(glob.glob(os.path.join(jar_dir(), "*.jar")))
    if not jars:
        raise RuntimeError("no jars in %s" % jar_dir())
    c = {
        "spark.jars": ",".join(jars),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.mem": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.mem.type": "jdbc",
        "spark.sql.catalog.mem.uri": "jdbc:sqlite:file:" + os.path.join(work, "catalog.db"),
        "spark.sql.catalog.mem.jdbc.schema-version": "V1",
        "spark.sql.catalog.mem.warehouse": os.path.join(work, "mem"),
        "spark.sql.catalog.mem.cache-enabled": "false",
        "spark.sql.warehouse.dir": os.path.join(work, "spark-warehouse"),
        "spark.driver.memory": memory or os.environ.get("TIDEWATER_SPARK_MEMORY", "2g"),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -Dderby.system.home=%s -XX:+UseSerialGC -XX:TieredStopAtLevel=1" % work,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.ansi.enabled": "true",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
        "spark.local.dir": os.path.join(work, "local"),
        "spark.log.level": "ERROR",
    }
    c.update(extra or {})
    b = SparkSession.builder.master(master or os.environ.get("TIDEWATER_SPARK_MASTER", "local[2]")).appName("oracle")
    for k, v in c.items():
        b = b.config(k, v)
    s = b.getOrCreate()
    s._oracle_work = work
    return s
