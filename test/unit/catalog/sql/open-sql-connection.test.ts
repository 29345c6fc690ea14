import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../../src/base/system-random.ts';
import { openSqlConnection } from '../../../../src/catalog/sql/open-sql-connection.ts';

const parts = { clock: new SystemClock(), random: new SystemRandom() };

describe('openSqlConnection', () => {
  it.each([
    ['jdbc:sqlite:file:/dir/x.db', 'sqlite:/dir/x.db'],
    ['jdbc:sqlite:file:///dir/x.db', 'sqlite:/dir/x.db'],
    ['jdbc:sqlite:/dir/x.db?busy_timeout=10000', 'sqlite:/dir/x.db'],
    ['jdbc:sqlite:x.db', 'sqlite:x.db'],
    ['jdbc:sqlite::memory:', 'sqlite::memory:'],
    ['sqlite:///x.db', 'sqlite:x.db'],
    ['sqlite:////dir/x.db?timeout=5', 'sqlite:/dir/x.db'],
    ['sqlite+pysqlite:////dir/x.db', 'sqlite:/dir/x.db'],
    ['sqlite://', 'sqlite::memory:'],
    ['jdbc:postgresql://h/db', 'postgresql://h:5432/db'],
    ['jdbc:postgresql://h:7777/db?user=u&password=p&ssl=true', 'postgresql://h:7777/db'],
    ['postgresql://u:p%40ss@h/db', 'postgresql://h:5432/db'],
    ['postgresql+psycopg2://u:p@h/d%20b?sslmode=require', 'postgresql://h:5432/d b'],
    ['postgres://u@[::1]:5433', 'postgresql://::1:5433/u'],
  ])('understands %s', (uri, shown) => {
    expect(openSqlConnection({ uri }, parts).shown).toBe(shown);
  });

  it.each([
    ['jdbc:mysql://root:hunter2@h/db', /"jdbc:mysql:\/\/\*\*\*@h\/db" is not the URI of a database/],
    ['jdbc:sqlite:x.db?cache=shared', /has the parameter "cache"/],
    ['jdbc:sqlite:x.db?busy_timeout=soon', /has a waiting time that is no number/],
    ['postgresql://u:hunter2@h/db?sslmode=maybe', /"postgresql:\/\/\*\*\*@h\/db\?sslmode=maybe" has sslmode "maybe"/],
    ['postgresql://u:hunter2@h:port/db', /"postgresql:\/\/\*\*\*@h:port\/db" is not a URI/],
  ])('refuses %s without showing a password', (uri, message) => {
    const open = (): unknown => openSqlConnection({ uri }, parts);
    expect(open).toThrow(message);
    expect(open).not.toThrow(/hunter2/);
  });
});
