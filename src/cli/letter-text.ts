import { factsJson, type JsonObject } from '../base/json-value.ts';
import { printable, printableLine } from '../base/printable.ts';
import { isSecretName, mask, shownValue, withoutSecrets } from '../base/redaction.ts';
import { cureOf } from '../ingest/letters/letter-cures.ts';
import type { StoredLetter } from '../ingest/letters/stored-letter.ts';

/** A letter, and when it was replayed. */
interface Found {
  readonly letter: StoredLetter;
  readonly replayedAt: string | undefined;
}

import type { ReplayHistory } from '../protocol/replayed-record.ts';
import { bytesText, orAbsent, timeText } from './display-text.ts';

/** Of a key, a header or a value so much is shown; `--raw` writes all of it. */
const maxShownBytes = 64 * 1024;

const widths = [12, 20, 20, 20, 18, 28] as const;

export const letterHead: string = cellsText(['PLACE', 'REJECTED', 'REPLAYED', 'TABLE', 'REASON', 'SOURCE', 'MESSAGE']);

/** One letter in one line, which is all that a list holds of it. */
export function letterLine({ letter, replayedAt }: Found): string {
  const { place, rejectedAt, table, reason, message } = letter;
  return cellsText([
    `${place.partition}:${place.offset}`,
    instantText(rejectedAt),
    instantText(replayedAt),
    orAbsent(table),
    orAbsent(reason),
    sourceText(letter),
    withoutSecrets(orAbsent(message)),
  ]);
}

/** One letter for a person, with what to do about it. */
export function letterText({ letter, replayedAt }: Found): string {
  const { history } = letter;
  const { place, table, pipeline, reason, stage, message, rejectedAt, timestampMs, cut, key, value, headers, untilOffset } = letter;
  const cure = cureOf(reason);
  const lines: readonly (readonly [string, string])[] = [
    ['letter', `${place.topic}:${place.partition}:${place.offset}`],
    ['table', `${orAbsent(table)} of pipeline ${orAbsent(pipeline)}`],
    ['reason', orAbsent(reason)],
    ['stage', orAbsent(stage)],
    ['message', withoutSecrets(orAbsent(message))],
    ...(cure === undefined ? [] : [['cure', cure] as const]),
    ['rejected', orAbsent(rejectedAt)],
    ...(replayedAt === undefined ? [] : [['replayed', `at ${replayedAt}`] as const]),
    ...(history === undefined ? [] : [['before', historyText(history)] as const]),
    ['source', `${sourceText(letter)}${untilOffset === undefined ? '' : ` to ${untilOffset - 1n}, a batch that could not be opened`}`],
    ['timestamp', timeText(timestampMs)],
    ...cut.map(
      ({ part, bytes, sha256 }) => ['cut', `${part}: the whole has ${orAbsent(bytes)} bytes, SHA-256 ${orAbsent(sha256)}`] as const,
    ),
    ...headers.map(([name, bytes]) => ['header', `${name} = ${headerText(name, bytes)}`] as const),
  ];
  const told = lines.map(([name, text]) => `${name.padEnd(9)}  ${printableLine(text)}\n`).join('');
  return `${told}${payloadText('key', key)}${payloadText('value', value)}`;
}

/** One letter for programs: `brief` is without key, value and headers; in a whole one bytes that are no text are base64. */
export function letterJson({ letter, replayedAt }: Found, extent: 'brief' | 'whole'): JsonObject {
  const { history, place, reason, message, rejectedAt, source, key, value, headers, ...told } = letter;
  const brief = factsJson({
    ...place,
    ...{ table: told.table, pipeline: told.pipeline, reason, stage: told.stage },
    message: message === undefined ? undefined : withoutSecrets(message),
    ...{ cure: cureOf(reason), rejectedAt, replayedAt, timesReplayed: history?.times ?? 0 },
    ...{ firstReason: history?.firstReason ?? reason, firstRejectedAt: history?.firstRejectedAt ?? rejectedAt },
    source: { ...source, untilOffset: told.untilOffset, timestampMs: told.timestampMs },
    cut: told.cut,
  });
  if (extent === 'brief') return brief;
  return {
    ...brief,
    key: payloadJson(key),
    value: payloadJson(value),
    headers: headers.map(([name, bytes]) => ({ name, ...(isSecretName(name) ? { text: mask } : payloadJson(bytes)) })),
  };
}

function historyText({ times, firstReason, firstRejectedAt }: ReplayHistory): string {
  return `replayed ${times} times, at first rejected at ${orAbsent(firstRejectedAt)}: ${orAbsent(firstReason)}`;
}

function instantText(instant: string | undefined): string {
  const timeMs = Date.parse(instant ?? '');
  return timeText(Number.isNaN(timeMs) ? undefined : timeMs);
}

function cellsText(cells: readonly string[]): string {
  return cells
    .map((cell, index) => printableLine(cell).padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd();
}

function sourceText({ source }: StoredLetter): string {
  return `${orAbsent(source.topic)}:${orAbsent(source.partition)}:${orAbsent(source.offset)}`;
}

function headerText(name: string, bytes: Uint8Array): string {
  return shownValue(name, textOf(bytes) ?? `0x${Buffer.from(bytes.subarray(0, maxShownBytes)).toString('hex')}`);
}

function payloadText(part: 'key' | 'value', bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return `${part.padEnd(9)}  null\n`;
  const text = textOf(bytes.subarray(0, maxShownBytes));
  const more = bytes.byteLength > maxShownBytes ? `… ${bytesText(bytes.byteLength - maxShownBytes)} more, with --raw ${part}\n` : '';
  const head = `${part.padEnd(9)}  ${bytes.byteLength} bytes${text === undefined ? ', no text, in hexadecimal digits' : ''}:\n`;
  return `${head}${printable(text ?? Buffer.from(bytes.subarray(0, maxShownBytes)).toString('hex'))}\n${more}`;
}

function payloadJson(bytes: Uint8Array | undefined): JsonObject | null {
  if (bytes === undefined) return null;
  const text = textOf(bytes);
  return text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text };
}

/** `undefined`: it is no UTF-8. The end may be in the middle of a character where it was cut. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: bytes.byteLength >= maxShownBytes });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
