// Adds up the JSON reports of test runs in a folder: each failed test with its message, then one line "N passed, N failed, N skipped". Fails
// when no test ran.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const maxMessage = 2_000;

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
  for (const { fullName, failureMessages } of tests)
    console.log(`FAILED ${name}: ${fullName}\n${failureMessages.join('\n').slice(0, maxMessage)}\n`);
  if (status === 'failed' && tests.length === 0) console.log(`FAILED ${name}\n${String(message).slice(0, maxMessage)}\n`);
}
