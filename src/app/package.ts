import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { isJsonObject, parseJson } from '../base/bigint-json.ts';

const manifestPath = createRequire(import.meta.url).resolve('#package.json');
const manifest = parseJson(readFileSync(manifestPath, 'utf8'), 'package.json');

/** Folder of this package, whether its sources, its modules or its bundle run. */
export const packageRoot: string = dirname(manifestPath);

/** The version of this product, as its package says. */
export const productVersion: string = isJsonObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : 'unknown';
