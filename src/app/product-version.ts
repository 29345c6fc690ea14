import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson } from '../base/bigint-json.ts';

const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'), 'package.json');

/** The version of this product, as its package says. */
export const productVersion: string = isJsonObject(manifest) && typeof manifest['version'] === 'string' ? manifest['version'] : 'unknown';
