import { abortedError } from '../base/abort.ts';
import { isServiceError, ServiceError, type ServiceErrorOptions } from '../base/errors.ts';

type ErrorShape = Pick<ServiceErrorOptions, 'code' | 'kind' | 'hint'>;

interface MessageRule {
  readonly pattern: RegExp;
  readonly shape: ErrorShape;
}

const corrupt: ErrorShape = { code: 'ENGINE_FILE_CORRUPT', kind: 'corrupt', hint: 'a data file is damaged or is no Parquet file' };
const missing: ErrorShape = {
  code: 'ENGINE_FILE_MISSING',
  kind: 'not-found',
  hint: 'a data file was deleted while it was needed, such as by a vacuum with a retention shorter than the query',
};

// The engine reports everything as text that begins with its own class; the first rule that fits decides.
const rules: readonly MessageRule[] = [
  {
    pattern: /No space left on device|disk quota|max_temp_directory_size|Could not write all bytes|failed to offload data block/i,
    shape: { code: 'ENGINE_DISK_FULL', kind: 'unavailable', hint: "free space in the temporary directory or on the table's disk" },
  },
  {
    pattern: /^Out of Memory Error|could not allocate block|bad allocation/i,
    shape: { code: 'ENGINE_OUT_OF_MEMORY', kind: 'unavailable', hint: 'raise the memory limit of the engine or use fewer threads' },
  },
  { pattern: /No such file or directory|No files found that match the pattern/i, shape: missing },
  {
    pattern:
      /No magic bytes|not a parquet file|too small to be a Parquet file|Failed to read Parquet|corrupt|TProtocolException|Snappy decompression|ZSTD|Invalid (?:page|encoding)|Out of buffer|footer length|Parquet file invalid|Error while reading|don't know what type/i,
    shape: corrupt,
  },
  {
    pattern: /Failed to cast value|Failed while reading file/i,
    shape: { ...corrupt, hint: 'a value in a data file does not fit the column of the table' },
  },
  {
    pattern:
      /^(?:Parser|Binder|Catalog|Syntax|Not implemented|Permission|Mismatch Type|Parameter Not Resolved|Parameter Not Allowed) Error/i,
    shape: { code: 'ENGINE_QUERY_INVALID', kind: 'invalid', hint: undefined },
  },
  { pattern: /^(?:IO|HTTP|Network|Connection) Error/i, shape: { code: 'ENGINE_UNAVAILABLE', kind: 'unavailable', hint: undefined } },
  { pattern: /^(?:INTERNAL|FATAL|Serialization) Error/i, shape: { code: 'ENGINE_BROKEN', kind: 'internal', hint: undefined } },
];

const queryFailed: ErrorShape = { code: 'ENGINE_QUERY_FAILED', kind: 'invalid', hint: undefined };
const maxMessageLength = 2_000;

/** Files named at most, where the engine does not say which of those that it read is damaged. */
const maxNamedFiles = 3;

/** What an error of the engine means to the caller; errors of ours pass through. `cause` is kept. `files`: those that were read. */
export function engineError(cause: unknown, signal?: AbortSignal, files: readonly string[] = []): ServiceError {
  if (isServiceError(cause)) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (signal?.aborted === true || /^INTERRUPT Error/i.test(text)) return abortedError(signal);
  const shape = rules.find((rule) => rule.pattern.test(text))?.shape ?? queryFailed;
  const position = lineOf(text);
  const place = shape.code === corrupt.code && !text.includes('/') ? placeOf(files) : '';
  return new ServiceError({ ...shape, message: reasonOf(text) + place, cause, context: position === undefined ? {} : { position } });
}

// The engine appends the line of its own text that it did not like, which means nothing to whoever wrote another one.
function reasonOf(text: string): string {
  const head = text.split(/\n\s*\nLINE \d+:/u)[0] ?? text;
  const words = head.replace(/^([A-Za-z ]+) Error: /u, (_, kind: string) => `${kind.toLowerCase()}: `).trim();
  return words.length > maxMessageLength ? `${words.slice(0, maxMessageLength)}…` : words;
}

function placeOf(files: readonly string[]): string {
  if (files.length === 0) return '';
  const more = files.length > maxNamedFiles ? ` and ${files.length - maxNamedFiles} more` : '';
  const names = files.slice(0, maxNamedFiles).map((file) => `"${file}"`);
  return `, in ${files.length === 1 ? '' : 'one of '}${names.join(', ')}${more}`;
}

function lineOf(text: string): number | undefined {
  const line = /\nLINE (\d+):/u.exec(text)?.[1];
  return line === undefined ? undefined : Number(line);
}
