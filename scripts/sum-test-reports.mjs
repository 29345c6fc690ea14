// Adds up the JSON reports of test runs in a folder: each failed test with its message, then one line "N passed, N failed, N skipped". Fails
// when no test ran.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const maxMessage = 2_000;
/** What the reporter has instead of the message of a test that took too long: the stack of the error that was made in advance. */
const timeout = 'STACK_TRACE_ERROR';
/** The report has nothing of a hook of a `describe`. */
const hookFailed = 'a hook failed: its message is in the output of the run';

const folder = process.argv[2];
let [passed, failed, skipped] = [0, 0, 0];
for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests + report.numTodoTests;
  for (const file of report.testResults) printFailures(file);
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (passed + failed === 0) process.exit(1);

/** A file that fails as a whole has no test that does. */
function printFailures({ name, status, message, assertionResults }) {
  const tests = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages, duration } of tests) {
    const said = failureMessages.join('\n').replaceAll(timeout, `timed out, and ended after ${Math.round(duration)} ms`);
    console.log(`FAILED ${name}: ${fullName}\n${said.slice(0, maxMessage)}\n`);
  }
  if (status === 'failed' && tests.length === 0) console.log(`FAILED ${name}\n${String(message || hookFailed).slice(0, maxMessage)}\n`);
}
