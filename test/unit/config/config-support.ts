import { ServiceError } from '../../../src/base/errors.ts';
import { type LoadedConfig, loadConfig } from '../../../src/config/load-config.ts';

export interface LoadInput {
  readonly yaml?: string | undefined;
  readonly files?: Readonly<Record<string, string>> | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly overrides?: readonly string[] | undefined;
}

/** Loads a configuration from texts; `yaml` is the file `a.yaml` in `/work`. */
export function load({ yaml = '', files = { 'a.yaml': yaml }, env = {}, overrides = [] }: LoadInput): LoadedConfig {
  const byPath = new Map(Object.entries(files).map(([name, text]) => [name.startsWith('/') ? name : `/work/${name}`, text]));
  return loadConfig({
    files: Object.keys(files).filter((name) => name.endsWith('.yaml')),
    env,
    overrides,
    workingDir: '/work',
    readText: (path) => {
      const text = byPath.get(path);
      if (text === undefined) throw new ServiceError({ code: 'TEST_FILE_MISSING', kind: 'not-found', message: `no file ${path}` });
      return text;
    },
  });
}

/** The error that loading throws. */
export function loadError(input: LoadInput): ServiceError {
  try {
    load(input);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new ServiceError({ code: 'TEST_FAILED', kind: 'internal', message: 'the configuration was accepted' });
}
