import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';

const directory = new URL('../../../examples/pipelines/', import.meta.url);
const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

describe('a pipeline of the examples', () => {
  it.each(readdirSync(directory))('%s is a configuration that is accepted as it is, and the README shows where it is', (name) => {
    const text = readFileSync(new URL(name, directory), 'utf8');
    const { config } = loadConfig({ files: [`/work/${name}`], env: {}, workingDir: '/work', readText: () => text });
    expect(config.ingest.routes.length).toBeGreaterThan(0);
    expect(readme).toContain(`examples/pipelines/${name}`);
  });
});
