import { ServiceError } from '../base/errors.ts';

const maxFileLength = 1_000_000;
/** `$${` is a literal `${`. */
const reference = /\$\$\{|\$\{([^}]*)\}/g;
const variable = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** What references resolve to. */
export interface SubstitutionSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file whole; throws when it cannot. */
  readonly readText: (path: string) => string;
}

/**
 * Replaces `${NAME}`, `${NAME:-default}` (unset or empty) and `${file:/path}` (without its last line feed). The result is text: it is
 * never read as YAML again, so a value cannot change the structure.
 *
 * @throws ServiceError `CONFIG_VARIABLE_UNSET`, `CONFIG_FILE_UNREADABLE` or `CONFIG_REFERENCE_INVALID` (kind invalid), starting with `where`.
 */
export function substitute(text: string, sources: SubstitutionSources, where: string): string {
  return text.replace(reference, (whole, body: string | undefined) => {
    if (body === undefined) return '${';
    if (body.startsWith('file:')) return readReferenced(body.slice('file:'.length), sources, where);
    const match = variable.exec(body);
    const name = match?.[1];
    if (name === undefined) {
      throw invalid(
        'CONFIG_REFERENCE_INVALID',
        `${where}: "${whole.replace(/:-.*$/s, ':-…}')}" is no reference`,
        'write ${NAME}, ${NAME:-default} or ${file:/path}; a literal ${ is written $${',
      );
    }
    const value = sources.env[name];
    const fallback = match?.[2];
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw invalid(
      'CONFIG_VARIABLE_UNSET',
      `${where}: environment variable ${name} is not set`,
      `set ${name}, or give a default: \${${name}:-default}`,
    );
  });
}

function readReferenced(path: string, sources: SubstitutionSources, where: string): string {
  let text: string;
  try {
    text = sources.readText(path);
  } catch (cause) {
    throw invalid(
      'CONFIG_FILE_UNREADABLE',
      `${where}: file ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      undefined,
      cause,
    );
  }
  if (text.length > maxFileLength)
    throw invalid('CONFIG_FILE_UNREADABLE', `${where}: file ${path} is longer than ${maxFileLength} characters`, undefined);
  return text.replace(/\r?\n$/, '');
}

function invalid(code: string, message: string, hint: string | undefined, cause?: unknown): ServiceError {
  return new ServiceError({ code, kind: 'invalid', message, hint, cause });
}
