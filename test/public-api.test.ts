import { describe, it } from 'vitest';
import { expectFresh } from './support/generated-page.ts';
import { renderPublicApi } from './support/public-api.ts';

describe('what the library exports', () => {
  it('is what its page says: a change of it is made on purpose', () => {
    expectFresh('docs/reference/library.md', renderPublicApi());
  });
});
