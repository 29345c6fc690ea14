import { AnalysisException } from '../../../src/index.ts';

/** What a session refuses a thing with. Anything but an `AnalysisException`, success above all, fails the test. */
export async function refusalOf(attempt: Promise<unknown> | (() => Promise<unknown>)): Promise<AnalysisException> {
  try {
    await (typeof attempt === 'function' ? attempt() : attempt);
  } catch (error) {
    if (error instanceof AnalysisException) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
