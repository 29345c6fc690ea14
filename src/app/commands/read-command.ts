import { availableParallelism } from 'node:os';
import { isJsonObject, type JsonObject, printJson } from '../../base/bigint-json.ts';
import { ServiceError } from '../../base/errors.ts';
import { RandomIdSource } from '../../base/ids.ts';
import { SystemClock } from '../../base/system-clock.ts';
import { SystemRandom } from '../../base/system-random.ts';
import { DeltaTables } from '../../delta/delta-tables.ts';
import { IcebergTables } from '../../iceberg/iceberg-tables.ts';
import { isMetadataFile } from '../../iceberg/pointer/metadata-names.ts';
import { ParquetFileRewriter } from '../../maintenance/file-rewriter.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { openObjectStore } from '../../storage/open-object-store.ts';
import { RetryingObjectStore } from '../../storage/retrying-object-store.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { TableFormatDriver } from '../../table/table-formats.ts';
import type { ReadTableRequest } from '../app-commands.ts';
import { LazyEngine } from '../lazy-engine.ts';
import { productVersion } from '../product-version.ts';
import { changeLinesOf, historyLines, rowLines, schemaLines } from '../read-lines.ts';

const memoryLimitBytes = 1024 ** 3;

/** Reads rows, changes, schema or history of a table at a location, one line of JSON after the other. */
export async function readTable(request: ReadTableRequest, onLine: (line: string) => Promise<void>): Promise<void> {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const ids = new RandomIdSource(random);
  const engine = new LazyEngine({ memoryLimitBytes, threads: availableParallelism(), temporaryDirectory: undefined, ids });
  const openStore = (location: string): ObjectStore => new RetryingObjectStore(openObjectStore(location), { clock, random });
  const parts = { openStore, clock, random, ids, version: productVersion, engine: () => engine.open() };
  const drivers = [new DeltaTables({ ...parts, rewriter: new ParquetFileRewriter({ openStore }) }), new IcebergTables(parts)];
  try {
    const table = await openAny(drivers, request);
    if (table === undefined) throw noTable(request);
    switch (request.what) {
      case 'rows':
        for await (const line of rowLines({ table, engine: await engine.open() }, request)) await onLine(line);
        return;
      case 'changes':
        for await (const line of changeLinesOf({ table, engine: await engine.open() }, request)) await onLine(line);
        return;
      case 'schema':
        for await (const line of schemaLines({ table }, request)) await onLine(lineOf(line, request.canonical));
        return;
      case 'history':
        for await (const line of historyLines({ table }, request)) await onLine(lineOf(line, request.canonical));
    }
  } finally {
    await engine.close();
  }
}

/** The table of the first format that has one at the location. */
async function openAny(drivers: readonly TableFormatDriver[], request: ReadTableRequest): Promise<QueryableTable | undefined> {
  const { name, location, signal, pathMap, pathBase } = request;
  const formats = isMetadataFile(location) ? ['iceberg'] : ['delta', 'iceberg'];
  for (const driver of drivers.filter(({ format }) => formats.includes(format))) {
    const table = await driver.open(name, location, signal, { pathMap, pathBase });
    if (table !== undefined) return table;
  }
  return undefined;
}

function lineOf(value: JsonObject, canonical: boolean): string {
  return printJson(canonical ? sortedMembers(value) : value);
}

function sortedMembers(value: JsonObject): JsonObject {
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(
    names.map((name) => {
      const member = value[name];
      return [name, isJsonObject(member) ? sortedMembers(member) : member];
    }),
  );
}

function noTable({ name, location }: ReadTableRequest): ServiceError {
  return new ServiceError({
    code: 'TABLE_NOT_FOUND',
    kind: 'not-found',
    message:
      name === location
        ? `there is no Delta or Iceberg table at "${location}"`
        : `table "${name}": there is no Delta or Iceberg table at "${location}"`,
    hint: 'check the name or the path; a path has a slash in it',
  });
}
