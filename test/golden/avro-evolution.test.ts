import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseColumnType } from '../../src/expr/parse/column-type.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import type { StructType } from '../../src/schema/types.ts';
import { recordOf, rowsOf } from '../unit/ingest/decode/decoding.ts';

/*
 * Payloads of one schema, read as another (test/golden/CATALOGUE.md): renamed, dropped, added and promoted fields, other unions and enums, as fastavro
 * resolves them.
 */

interface Evolution {
  readonly writer: unknown;
  readonly reader: unknown;
  readonly columns: Readonly<Record<string, string>>;
  /** `row`: as JSON; null: there is none, for `why`. */
  readonly cases: readonly { readonly bytes: string; readonly row: string | null; readonly why?: string }[];
}

const file = process.env['AVRO_EVOLUTIONS'] ?? new URL('payloads/avro-evolution.jsonl.gz', import.meta.url);
const bytes = readFileSync(file);
const evolutions = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes)
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Evolution);

function schemaOf(columns: Readonly<Record<string, string>>): StructType {
  return {
    kind: 'struct',
    fields: Object.entries(columns).map(([name, type]) => ({ name, type: parseColumnType(type), nullable: true })),
  };
}

/** The id of each payload's schema. */
const id = 7;

describe('Avro read as the schema of the route', () => {
  it('gives what another reader of Avro gives', () => {
    let [rows, refused] = [0, 0];
    for (const { writer, reader, columns, cases } of evolutions) {
      const known = new KnownSchemas();
      known.add([{ key: `ids/${id}`, schema: { type: 'AVRO', text: JSON.stringify(writer), references: [] } }]);
      const schema = schemaOf(columns);
      const sources = schema.fields.map(({ name }) => ({ kind: 'value', name }) as const);
      const value = { kind: 'avro', schemas: 'registry', idIn: 'prefix', reader: JSON.stringify(reader) } as const;
      const decoder = new RecordDecoder(schema, { sources, unknownMembers: 'reject', value }, { schemas: known });
      const account = new RecordDecoder(schema, { sources, unknownMembers: 'reject' });
      const shown = `${JSON.stringify(writer)} read as ${JSON.stringify(reader)}`;
      for (const { bytes: payload, row, why } of cases) {
        const refusal = decoder.decode(recordOf(Buffer.concat([Buffer.from([0, 0, 0, 0, id]), Buffer.from(payload, 'base64')])));
        if (row === null) {
          expect(refusal?.reason, `${why}: ${shown}`).toBeOneOf(['wrong-type', 'unknown-schema']);
          refused += 1;
        } else {
          expect(refusal, shown).toBeUndefined();
          expect(account.decode(recordOf(row))).toBeUndefined();
          rows += 1;
        }
      }
      expect(rowsOf(decoder.finish()), shown).toEqual(rowsOf(account.finish()));
    }
    expect([rows > 400, refused > 10]).toEqual([true, true]);
  });
});
