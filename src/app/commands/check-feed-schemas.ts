import { toEpochMs } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import { checkSchema } from '../../cdf/encoding/registering-encoder.ts';
import { checkNumbered } from '../../cdf/encoding/schema-numbers.ts';
import { encodeSpecOf } from '../../cdf/feed-spec.ts';
import { schemasBeside } from '../../cdf/metadata/records-beside.ts';
import type { EncodeTask } from '../../protocol/change-event.ts';
import { RegistrySubjects } from '../../registry/registry-subjects.ts';
import { toVersion } from '../../table/version.ts';
import type { FeedSchemaCheck } from '../app-commands.ts';
import type { Components } from '../components.ts';

/**
 * What the registry says of the schemas of every feed that has some there, by the columns that its table has now, or will have when it is made.
 *
 * @throws ServiceError `REGISTRY_UNAVAILABLE`, `REGISTRY_UNAUTHORIZED`, what loading a table throws, and what its columns cannot be in the encoding.
 */
export async function checkFeedSchemas({ config, catalog }: Components, signal: AbortSignal): Promise<readonly FeedSchemaCheck[]> {
  const { pipeline, feeds, schemaRegistry } = config;
  if (schemaRegistry === undefined) return [];
  const subjects = new RegistrySubjects(schemaRegistry);
  const checks: FeedSchemaCheck[] = [];
  for (const feed of feeds) {
    const defined = config.tables.find(({ name }) => name === feed.table);
    if (defined === undefined) continue;
    const table = await catalog.load(feed.table).catch((error: unknown) => {
      if (isServiceError(error, 'not-found')) return undefined;
      throw error;
    });
    const schema = table === undefined ? defined.definition.schema : (await table.refresh()).schema;
    const { format, location } = table ?? defined;
    const spec = encodeSpecOf({ ...feed, pipeline }, { table: { format, location }, tableId: '', partitions: 1 });
    const changes = { version: toVersion(0), committedAt: toEpochMs(0), schema, partitionColumns: [], files: [] };
    const task: EncodeTask = { spec, changes, snapshot: false, fromOrdinal: 0, maxRows: 1, maxBytes: 1 };
    for (const part of ['key', 'value'] as const) {
      const check = await checkSchema(task, part, subjects, signal);
      if (check !== undefined) checks.push({ feed: feed.name, ...check });
    }
    for (const numbered of schemasBeside(feed)) checks.push({ feed: feed.name, ...(await checkNumbered(numbered, subjects, signal)) });
  }
  return checks;
}
