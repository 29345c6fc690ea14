import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

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

/** Those of the captures that most tests need; see CATALOGUE.md beside them. */
export function goldenEvents(): GoldenEvents {
  return eventsIn(gunzipSync(readFileSync(packed('debezium.jsonl.gz'))));
}

/** All captures whole. */
export function allGoldenEvents(): GoldenEvents {
  const rest = eventsIn(brotliDecompressSync(readFileSync(packed('debezium-rest.jsonl.br'))));
  return { schemas: rest.schemas, events: [...goldenEvents().events, ...rest.events] };
}

function packed(name: string): URL {
  return new URL(`../golden/payloads/${name}`, import.meta.url);
}

function eventsIn(text: Buffer): GoldenEvents {
  const schemas: GoldenEvents['schemas'][number][] = [];
  const events: CapturedEvent[] = [];
  for (const line of text.toString('utf8').trimEnd().split('\n')) {
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
