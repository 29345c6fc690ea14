import type { Engine } from '../../engine/engine.ts';
import { scanColumns } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { BoundValue, ColumnStatistics } from '../../schema/statistics.ts';
import { type StructLeaf, structLeaves } from '../../schema/type-tree.ts';
import type { DataType } from '../../schema/types.ts';
import type { FileScan } from '../../table/scan.ts';

/** What rows of one file say. */
export interface FileRows {
  readonly rowCount: number;
  readonly statistics: readonly ColumnStatistics[];
}

/**
 * Statistics of each file of a scan, in its order, computed from the rows: exact bounds, in one pass over the columns that get any
 * (`wanted`, by path).
 */
export async function fileStatistics(
  engine: Engine,
  scan: FileScan,
  wanted: (path: readonly string[]) => boolean,
  signal?: AbortSignal,
): Promise<readonly FileRows[]> {
  const data = scan.schema.fields.filter((field) => !scan.partitionColumns.includes(field.name));
  const leaves = structLeaves({ kind: 'struct', fields: data }).filter((leaf) => wanted(leaf.path));
  const rows = await engine.scan(scan, { withPositions: true }, signal);
  try {
    const columns = leaves.flatMap(aggregates);
    const file = quoteName(scanColumns.fileIndex);
    const found = await engine.rows(`SELECT ${[file, 'count(*)', ...columns].join(', ')} FROM (${rows.sql}) GROUP BY 1`, signal);
    const byFile = new Map(found.map((row) => [Number(row[0]), row]));
    return scan.files.map((_, index) => rowsOf(byFile.get(index) ?? [], leaves));
  } finally {
    await rows.dispose();
  }
}

const aggregatesPerLeaf = 4;

/** Values, smallest, largest, and NaNs, as text that `boundOf` reads. */
function aggregates(leaf: StructLeaf): readonly string[] {
  const column = leaf.path.map(quoteName).join('.');
  const isFloating = leaf.type.kind === 'float' || leaf.type.kind === 'double';
  const value = boundSql(column, leaf.type);
  const bounds = value === undefined ? ['NULL', 'NULL'] : [`CAST(min(${value}) AS VARCHAR)`, `CAST(max(${value}) AS VARCHAR)`];
  return [`count(${column})`, ...bounds, isFloating ? `count(*) FILTER (isnan(${column}))` : '0'];
}

function boundSql(column: string, type: DataType): string | undefined {
  switch (type.kind) {
    case 'date':
      return `date_diff('day', DATE '1970-01-01', ${column})`;
    case 'timestamp':
    case 'timestamp_ntz':
      return `epoch_us(${column})`;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'float':
    case 'double':
    case 'decimal':
    case 'string':
      return column;
    default:
      return undefined;
  }
}

function rowsOf(row: readonly unknown[], leaves: readonly StructLeaf[]): FileRows {
  const rowCount = Number(row[1] ?? 0);
  const statistics = leaves.map((leaf, index): ColumnStatistics => {
    const [values, min, max, nans] = row.slice(2 + index * aggregatesPerLeaf, 2 + (index + 1) * aggregatesPerLeaf);
    const nanCount = Number(nans ?? 0);
    return {
      path: leaf.path,
      nullCount: rowCount - Number(values ?? 0),
      ...(nanCount > 0 ? { nanCount } : { min: boundOf(min, leaf.type), max: boundOf(max, leaf.type) }),
    };
  });
  return { rowCount, statistics };
}

function boundOf(text: unknown, type: DataType): BoundValue | undefined {
  if (typeof text !== 'string') return undefined;
  switch (type.kind) {
    case 'string':
      return text;
    case 'float':
    case 'double':
      return Number(text.replace(/^(-?)inf$/i, '$1Infinity'));
    case 'decimal':
      return BigInt(text.replace('.', ''));
    default:
      return BigInt(text);
  }
}
