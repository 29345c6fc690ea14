import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A record of Debezium, and what it tells. */
export interface CapturedEvent {
  readonly capture: string;
  /** Whether key and value are text, not base64. */
  readonly text: boolean;
  /** `null`: it is of no table. */
  readonly table: string | null;
  readonly kind: string;
  /** Columns whose value the event does not have. */
  readonly unsure: readonly string[];
  readonly record: {
    readonly topic: string;
    readonly key: string | null;
    readonly value: string | null;
    readonly headers?: readonly (readonly [string, string])[];
  };
  /** The row that the database had, as JSON text; `null`: the account does not say. */
  readonly row: string;
}

export interface GoldenEvents {
  readonly schemas: readonly { readonly capture: string; readonly id: number; readonly schema: string }[];
  readonly events: readonly CapturedEvent[];
}

const rowMark = '"row": ';

/** The captures of test/golden/payloads/debezium.jsonl.gz (see CATALOGUE.md beside it). */
export function goldenEvents(): GoldenEvents {
  const text = gunzipSync(readFileSync(new URL('../golden/payloads/debezium.jsonl.gz', import.meta.url))).toString('utf8');
  const schemas: GoldenEvents['schemas'][number][] = [];
  const events: CapturedEvent[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const parsed = JSON.parse(line) as Omit<CapturedEvent, 'row'> & { readonly id: number; readonly schema?: string };
    if (parsed.schema !== undefined) schemas.push({ capture: parsed.capture, id: parsed.id, schema: parsed.schema });
    else events.push({ ...parsed, row: line.slice(line.lastIndexOf(rowMark) + rowMark.length, -1) });
  }
  return { schemas, events };
}

/** Key or value as the topic had it. */
export function bytesOf({ record, text }: CapturedEvent, part: 'key' | 'value'): Buffer | undefined {
  const held = record[part];
  return held === null ? undefined : Buffer.from(held, text ? 'utf8' : 'base64');
}
