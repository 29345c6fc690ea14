import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Translations by what was translated: a process of a test loads hundreds of sources, and the compiler itself takes half a second to load. */
const translations = fileURLToPath(new URL('../../node_modules/.cache/tidewater-sources/', import.meta.url));

/** Another way of translating gives another translation. */
const how = readFileSync(fileURLToPath(import.meta.url), 'utf8');

/** Node's module hook: TypeScript files lose their types on the way in. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return await nextLoad(url, context);
  return { format: 'module', source: await translated(fileURLToPath(url)), shortCircuit: true };
}

async function translated(fileName) {
  const text = readFileSync(fileName, 'utf8');
  const kept = join(translations, createHash('sha256').update([how, fileName, text].join('\0')).digest('hex'));
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    // Not translated yet.
  }
  const { outputText } = await translate(fileName, text);
  mkdirSync(translations, { recursive: true });
  // Whole or not at all: processes that start together translate the same.
  writeFileSync(`${kept}.${process.pid}`, outputText);
  renameSync(`${kept}.${process.pid}`, kept);
  return outputText;
}

async function translate(fileName, text) {
  const { default: ts } = await import('typescript');
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    inlineSourceMap: true,
  };
  return ts.transpileModule(text, { fileName, compilerOptions });
}
