import { availableParallelism } from 'node:os';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { RandomIdSource } from '../../base/ids.ts';
import { SystemClock } from '../../base/system-clock.ts';
import { SystemRandom } from '../../base/system-random.ts';
import { formatDrivers, openAny } from '../../catalog/formats.ts';
import type { Engine } from '../../engine/engine.ts';
import { ParquetFileRewriter } from '../../maintenance/file-rewriter.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { openObjectStore } from '../../storage/open-object-store.ts';
import { RetryingObjectStore } from '../../storage/retrying-object-store.ts';
import type { QueryableTable } from '../../table/table.ts';
import type { NameInCatalog, TableRequest } from '../app-commands.ts';
import { LazyEngine } from '../lazy-engine.ts';
import { productVersion } from '../package.ts';
import { createSession } from '../session.ts';

const memoryLimitBytes = 1024 ** 3;

/** A table, and the engine that is opened when rows are read. */
export interface OpenedTable extends AsyncDisposable {
  readonly table: QueryableTable;
  readonly engine: () => Promise<Engine>;
}

/** Opens a table by its name in a catalog, or where it lies. @throws ServiceError `TABLE_NOT_FOUND` (not-found). */
export async function openAnyTable(request: TableRequest): Promise<OpenedTable> {
  return request.inCatalog === undefined ? openAtPlace(request) : openByName(request, request.inCatalog);
}

function openAtPlace(request: TableRequest): Promise<OpenedTable> {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const ids = new RandomIdSource(random);
  const engine = new LazyEngine({ memoryLimitBytes, threads: availableParallelism(), temporaryDirectory: undefined, ids });
  const openStore = (location: string): ObjectStore => new RetryingObjectStore(openObjectStore(location), { clock, random });
  const open = (): Promise<Engine> => engine.open();
  const rewriter = new ParquetFileRewriter({ openStore });
  const drivers = formatDrivers({ openStore, clock, random, ids, version: productVersion, engine: open, rewriter });
  return opened(request, () => openAny(drivers, request), { engine: open, close: () => engine.close() });
}

function openByName(request: TableRequest, { parts, conf }: NameInCatalog): Promise<OpenedTable> {
  const session = createSession({ config: conf });
  const { tables, openEngine } = session.runtime;
  return opened(request, () => tables.find({ kind: 'name', parts }, request.signal), { engine: openEngine, close: () => session.stop() });
}

async function opened(
  request: TableRequest,
  open: () => Promise<QueryableTable | undefined>,
  { engine, close }: { readonly engine: () => Promise<Engine>; readonly close: () => Promise<void> },
): Promise<OpenedTable> {
  try {
    const table = await open();
    if (table === undefined) throw noTable(request);
    return { table, engine, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function noTable({ name, location, inCatalog }: TableRequest): ServiceError {
  if (inCatalog !== undefined) {
    const [catalog = '', ...parts] = inCatalog.parts;
    return serviceError.notFound('TABLE_NOT_FOUND', `catalog "${catalog}" has no table "${parts.join('.')}"`, {
      hint: `SHOW TABLES IN ${catalog}.<namespace>, with tidewater sql, lists what it has`,
    });
  }
  return serviceError.notFound(
    'TABLE_NOT_FOUND',
    name === location
      ? `there is no Delta or Iceberg table at "${location}"`
      : `table "${name}": there is no Delta or Iceberg table at "${location}"`,
    { hint: 'check the name or the path; a path has a slash in it' },
  );
}
