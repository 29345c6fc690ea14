import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../base/bigint-json.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { ConnectorOptions } from './connector-options.ts';
import { ingestCommandOptions } from './ingest-command.ts';

const maxLength = 1_000_000;
const maxOptions = 10_000;

/** By the class, or the name of the managed connector. */
export const ingestCommand = 'kafka-delta-ingest';

/**
 * Reads the configuration of a connector: JSON with `name` and `config`, the options alone, or a properties file; or a command line of
 * kafka-delta-ingest.
 *
 * @throws ServiceError `CONFIG_CONNECTOR_INVALID` (kind invalid).
 */
export function readConnector(text: string, where: string): ConnectorOptions {
  if (text.length > maxLength) throw invalid(`${where} is longer than ${maxLength} characters`, 'give the configuration of one connector');
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed === '') throw invalid(`${where} is empty`, sources);
  const command = ingestCommandOptions(trimmed);
  if (command !== undefined)
    return new ConnectorOptions({ name: command.get('app_id') ?? 'kafka-delta-ingest', className: ingestCommand, values: command });
  const { name, values } = /^[[{"]/.test(trimmed) ? ofJson(trimmed, where) : { name: undefined, values: ofProperties(trimmed) };
  if (values.size > maxOptions) throw invalid(`${where} has more than ${maxOptions} options`, 'give the configuration of one connector');
  const className = values.get('connector.class')?.trim() ?? '';
  if (className === '') throw invalid(`${where} has no connector.class`, sources);
  const named = name ?? values.get('name');
  const rest = new Map([...values].filter(([option]) => option !== 'connector.class' && option !== 'name'));
  return new ConnectorOptions({ name: named ?? 'connect', className, values: rest });
}

const sources =
  'give what GET /connectors/<name> or GET /connectors/<name>/config of Kafka Connect answers, or the properties file of a standalone worker';

function ofJson(text: string, where: string): { readonly name: string | undefined; readonly values: ReadonlyMap<string, string> } {
  let parsed: JsonValue;
  try {
    parsed = parseJson(text, where);
  } catch (error) {
    if (!isServiceError(error, 'corrupt')) throw error;
    throw invalid(error.message, sources, error);
  }
  if (!isJsonObject(parsed)) throw invalid(`${where} is JSON, and no object`, sources);
  const { config, name } = parsed;
  const isNested = isJsonObject(config);
  if (config !== undefined && !isNested) throw invalid(`${where}: "config" is no object`, sources);
  return { name: typeof name === 'string' && isNested ? name : undefined, values: textsOf(isNested ? config : parsed, where) };
}

function textsOf(options: JsonObject, where: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(options).flatMap(([option, value]): readonly (readonly [string, string])[] => {
      if (value === undefined || value === null) return [];
      if (typeof value === 'object') throw invalid(`${where}: option ${printJson(option)} is no plain value`, sources);
      return [[option, String(value)]];
    }),
  );
}

/** As java.util.Properties reads them: `key = value`, `key: value`, lines that go on after a backslash, `#` and `!` before comments. */
function ofProperties(text: string): ReadonlyMap<string, string> {
  const lines = text.replaceAll(/(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*/g, '$1').split(/\r\n|\r|\n/);
  return new Map(
    lines.flatMap((line) => {
      const found = /^[ \t\f]*([^#!=:\s](?:\\.|[^=:\s\\])*)[ \t\f]*(?:[=:]|(?<=\s)|$)[ \t\f]*([^]*)$/.exec(line);
      const [, key, value = ''] = found ?? [];
      return key === undefined ? [] : [[unescaped(key), unescaped(value)] as const];
    }),
  );
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-fA-F]{4})|\\(.)/g, (_, code: string | undefined, plain = '') =>
    code === undefined ? (escapes[String(plain)] ?? String(plain)) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

export function invalid(message: string, hint: string, cause?: unknown): ServiceError {
  return serviceError.invalid('CONFIG_CONNECTOR_INVALID', message, { hint, cause });
}
