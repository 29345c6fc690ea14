import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openComponents } from '../../../src/app/open-components.ts';
import { auditHistory } from '../../../src/commit/audit.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { DivisionSpec } from '../../../src/protocol/division.ts';
import { withTemporaryDirectory } from '../../support/servers.ts';

/* Which tables a template has made is stored in the table that they are made like. Two openings stand for two processes. */

type Opened = ReturnType<typeof openComponents> & { readonly spec: DivisionSpec };

function opened(directory: string, format: 'delta' | 'iceberg', max = 3): Opened {
  const more = format === 'iceberg' ? ', sortBy: ["bucket(4, id) desc", type], identifierColumns: [id]' : '';
  const yaml = `
pipeline: p
dataDir: ${directory}
tables:
  - { name: events, format: ${format}, columns: [{ name: id, type: long, nullable: false }, { name: type, type: string }], partitionBy: [type], properties: { owner: us }${more} }
  - { name: m_taken, format: ${format}, columns: [{ name: id, type: long }] }
ingest:
  routes:
    - topics: [t]
      divide: { member: type, template: { table: "m_{key}", like: events, max: ${max} } }
`;
  const { config } = loadConfig({ files: ['a.yaml'], env: {}, workingDir: directory, readText: () => yaml });
  const spec = config.ingest.routes[0]?.divided?.spec;
  if (spec === undefined) throw new Error('the route is divided');
  return { ...openComponents({ config, role: 'command', brokers: config.kafka.brokers }), spec };
}

describe.each(['delta', 'iceberg'] as const)('tables that are made like a table of %s', (format) => {
  it('are never more than their bound, and each process knows those of the other', async () => {
    await withTemporaryDirectory(async (directory) => {
      const one = opened(directory, format);
      const other = opened(directory, format);
      expect(await one.tables.known(one.spec)).toEqual({ parts: [], isFull: false });
      const pattern = await one.catalog.loadOrCreate('events');
      const makings = await Promise.all([
        one.tables.make(one.spec, ['a:1', 'b']),
        other.tables.make(other.spec, ['B', 'c', 'd', 'taken']),
        one.tables.make(one.spec, ['e/f', 'b']),
      ]);
      expect(Math.max(...makings.map(({ parts }) => parts.length))).toBeLessThanOrEqual(3);
      const found = await other.tables.known(other.spec);
      expect(found).toEqual(await one.tables.known(one.spec));
      expect(found.isFull).toBe(true);
      expect(new Set(found.parts.map(({ table }) => table)).size).toBe(3);
      expect(found.parts.some(({ key }) => key === 'taken')).toBe(false);
      const late = opened(directory, format);
      await late.tables.refresh(() => undefined);
      expect(late.tables.all.map(({ name }) => name)).toEqual(['events', 'm_taken', ...found.parts.map(({ table }) => table)]);
      const [first] = found.parts;
      const table = await late.catalog.loadOrCreate(first?.table ?? '');
      const snapshot = await table.refresh();
      expect(table.location).toContain(join(directory, 'tables', first?.table ?? ''));
      expect([snapshot.partitionColumns, snapshot.schema.fields.map(({ name }) => name)]).toEqual([['type'], ['id', 'type']]);
      const { properties, shownProperties } = await table.detail();
      expect(properties['owner']).toBe('us');
      expect([shownProperties?.['sort-order'], shownProperties?.['identifier-fields']]).toEqual(
        format === 'iceberg' ? ['bucket(4, id) DESC NULLS LAST, type ASC NULLS FIRST', '[id]'] : [undefined, undefined],
      );
      expect(late.tables.routeOf(first?.table ?? '')).toMatchObject({ madeFor: first?.key, topics: ['t'] });
      expect(auditHistory((await pattern.history({ limit: 100 })).toReversed()).findings).toEqual([]);
      await Promise.all([one, other, late].map((each) => each.close()));
    });
  });

  it('are created by whoever is first, once', async () => {
    await withTemporaryDirectory(async (directory) => {
      const [one, other] = [opened(directory, format), opened(directory, format)];
      await one.catalog.loadOrCreate('events');
      await Promise.all([one.tables.make(one.spec, ['a']), other.tables.make(other.spec, ['a'])]);
      const ids = await Promise.all([one, other].map(async ({ catalog }) => (await (await catalog.loadOrCreate('m_a')).refresh()).tableId));
      expect(new Set(ids).size).toBe(1);
      await Promise.all([one, other].map((each) => each.close()));
    });
  });
});
