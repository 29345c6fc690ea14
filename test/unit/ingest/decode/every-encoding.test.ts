import { describe } from 'vitest';
import { payloadDecoderConformance } from '../../../conformance/payload-decoder.ts';
import { encodings } from './encodings.ts';

describe.each(encodings)('payloads of $name', (encoding) => {
  payloadDecoderConformance(encoding);
});
