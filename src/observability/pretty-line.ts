import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import { printable, printableLine } from '../base/printable.ts';

const levelColours: Readonly<Record<string, string>> = { debug: '\u001b[2m', info: '\u001b[32m', warn: '\u001b[33m', error: '\u001b[31m' };
const faint = '\u001b[2m';
const reset = '\u001b[0m';

/**
 * A JSON log line for people: `12:00:01.234 info  table committed  table=flights version=7`. A line that is no JSON object is
 * returned as it is.
 */
export function formatPrettyLine(line: string, options: { readonly colour: boolean }): string {
  const record = parseRecord(line);
  if (record === undefined) return line;
  const { level, time, msg, err, ...fields } = record;
  const paint = (colour: string, text: string): string => (options.colour && text !== '' ? `${colour}${text}${reset}` : text);
  const levelText = typeof level === 'string' ? level : 'info';
  const clock = typeof time === 'string' ? time.slice(11, 23) : '';
  const shown = Object.entries(fields).map(([name, value]) => `${printableLine(name)}=${fieldText(value)}`);
  const head = [
    paint(faint, clock),
    paint(levelColours[levelText] ?? '', levelText.padEnd(5)),
    typeof msg === 'string' ? printableLine(msg) : '',
  ];
  const parts = [head.filter((part) => part !== '').join(' '), paint(faint, shown.join(' ')), ...errorTexts(err)];
  return `${parts.filter((part) => part !== '').join('  ')}\n`;
}

function parseRecord(line: string): JsonObject | undefined {
  try {
    const record = parseJson(line, 'log line');
    return isJsonObject(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function fieldText(value: JsonValue | undefined): string {
  const plain = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  return printableLine(plain ? value : printJson(value ?? null));
}

function errorTexts(err: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(err)) return err === undefined ? [] : [fieldText(err)];
  const { code, name, message, hint, cause, stack } = err;
  const title = [code ?? name, message].filter((part) => typeof part === 'string').join(': ');
  const lines = [printable(title), typeof hint === 'string' ? `(${printable(hint)})` : ''];
  if (cause !== undefined) lines.push(`caused by ${errorTexts(cause).join(' ')}`);
  if (typeof stack === 'string') lines.push(`\n${printable(stack)}`);
  return lines.filter((part) => part !== '');
}
