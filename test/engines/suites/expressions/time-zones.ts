import { calls, type ExpressionSuite, rows, unary } from './expression-suite.ts';

/** Local times around what is special in a zone. */
interface Zone {
  readonly zone: string;
  /** As local times, in the order of a calendar. */
  readonly locals: readonly string[];
}

/** Gap, overlap, half hours, offsets with seconds before zones were agreed on, and offsets that never change. */
const zones: Readonly<Record<string, Zone>> = {
  berlin: {
    zone: 'Europe/Berlin',
    locals: [
      '2024-03-31 01:59:59.999999',
      '2024-03-31 02:30:00',
      '2024-03-31 03:00:00',
      '2024-10-27 01:30:00',
      '2024-10-27 02:30:00',
      '2024-10-27 03:00:00',
      '1890-01-01 00:00:00',
      '1947-06-01 12:00:00',
      '3500-07-01 00:00:00',
      '0001-01-01 00:00:00',
    ],
  },
  'los-angeles': {
    zone: 'America/Los_Angeles',
    locals: ['2024-03-10 02:15:00', '2024-11-03 01:30:00', '2024-12-31 16:00:00', '1880-01-01 00:00:00', '1883-11-18 12:05:00'],
  },
  kolkata: { zone: 'Asia/Kolkata', locals: ['2024-01-01 00:00:00', '2024-01-01 05:29:59', '1850-06-01 10:00:00', '1942-10-01 01:00:00'] },
  apia: { zone: 'Pacific/Apia', locals: ['2011-12-30 12:00:00', '2011-12-29 23:59:59', '2011-12-31 00:00:00'] },
  'lord-howe': { zone: 'Australia/Lord_Howe', locals: ['2024-10-06 02:15:00', '2024-04-07 01:45:00', '2024-04-07 02:00:00'] },
  offset: { zone: '+05:30', locals: ['2024-01-01 00:00:00', '1970-01-01 05:30:00', '1850-06-01 10:00:00'] },
  'short-offset': { zone: 'UTC-8', locals: ['2024-01-01 00:00:00', '1969-12-31 23:59:59.999999'] },
};

const instants = [
  "TIMESTAMP '2024-03-31 00:59:59Z'",
  "TIMESTAMP '2024-03-31 01:00:00Z'",
  "TIMESTAMP '2024-10-27 00:30:00Z'",
  "TIMESTAMP '2024-10-27 01:30:00Z'",
  "TIMESTAMP '2024-12-31 23:30:00Z'",
  "TIMESTAMP '1880-01-01 00:00:00Z'",
];

const parts = 'year quarter month day hour minute second dayofweek weekday dayofyear weekofyear';

/** Columns of the same name: what expressions are called is not what these are about, but for the last group. */
function withoutNames(groups: Readonly<Record<string, readonly string[]>>): ExpressionSuite['groups'] {
  return Object.fromEntries(
    Object.entries(groups).map(([title, expressions]) => [
      title,
      title === 'names' ? expressions : expressions.map((expression) => `${expression} AS v`),
    ]),
  );
}

function suiteOf([title, { zone, locals }]: readonly [string, Zone]): ExpressionSuite {
  const texts = locals.map((local) => `'${local}'`);
  const literals = texts.map((text) => `TIMESTAMP ${text}`);
  const days = locals.map((local) => `DATE '${local.slice(0, 10)}'`);
  const some = [...literals.slice(0, 5), ...instants.slice(0, 4)];
  const micros = (values: readonly string[]): readonly string[] => values.map((value) => `unix_micros(${value})`);
  const text = (values: readonly string[]): readonly string[] => values.map((value) => `CAST(${value} AS STRING)`);
  return {
    name: `time-zones-${title}`,
    conf: { 'spark.sql.session.timeZone': zone },
    groups: withoutNames({
      'instants of local times': micros([
        ...literals,
        ...texts.map((value) => `CAST(${value} AS TIMESTAMP)`),
        ...texts.slice(0, 4).map((value) => `CAST(TIMESTAMP_NTZ ${value} AS TIMESTAMP)`),
        ...texts.slice(0, 3).map((value) => `to_timestamp(${value})`),
        ...days.slice(0, 5).map((day) => `CAST(${day} AS TIMESTAMP)`),
        "CAST('2024-07-01 10:00:00+09:00' AS TIMESTAMP)",
        "CAST('2024-07-01T10:00:00Z' AS TIMESTAMP)",
        "CAST('2024-07-01T10:00' AS TIMESTAMP)",
        "CAST('2024-07-01' AS TIMESTAMP)",
        "TRY_CAST('no time' AS TIMESTAMP)",
      ]),
      'local times of instants': [
        ...text([...literals, ...instants]),
        ...text(instants.map((value) => `CAST(${value} AS TIMESTAMP_NTZ)`)),
        ...text(instants.map((value) => `CAST(${value} AS DATE)`)),
        ...text(instants.slice(0, 2).map((value) => `array(${value})`)),
        `concat('at ', ${instants[0] ?? ''})`,
        `${instants[0] ?? ''} || ''`,
      ],
      ...unary(parts, [...instants, ...literals.slice(0, 2)]),
      'hour of text': rows('hour', "'2024-03-31 10:00:00'", "'2024-03-31 10:00:00Z'", "DATE '2024-03-31'"),
      extract: instants.flatMap((value) => [`extract(HOUR FROM ${value})`, `date_part('SECOND', ${value})`]),
      date_trunc: text(calls('date_trunc', ["'DAY'", "'HOUR'", "'WEEK'", "'MINUTE'", "'YEAR'"], some)),
      'date_trunc as an instant': micros(calls('date_trunc', ["'DAY'", "'HOUR'"], some)),
      trunc: text(calls('trunc', instants.slice(4), ["'MM'", "'YEAR'"])),
      date_format: calls('date_format', instants, ["'yyyy-MM-dd HH:mm:ss'"]),
      from_unixtime: calls('from_unixtime', ['0', '1711846799', '1711846800', '-2840140800']),
      unix_timestamp: calls('unix_timestamp', [
        ...texts.slice(1, 5).filter((value) => !value.includes('.')),
        ...literals.slice(0, 2),
        ...days.slice(0, 2),
      ]),
      'times by a pattern': [
        ...locals.slice(0, 3).map((local) => `unix_timestamp('${local.slice(0, 16)}', 'yyyy-MM-dd HH:mm')`),
        ...micros(locals.slice(0, 3).map((local) => `to_timestamp('${local.slice(0, 16)}', 'yyyy-MM-dd HH:mm')`)),
      ],
      to_date: text(calls('to_date', [...instants, ...texts.slice(0, 2)])),
      make_timestamp: micros([
        ...locals.slice(0, 5).map((local) => `make_timestamp(${local.replace('.999999', '').split(/[- :]/).map(Number).join(', ')})`),
        'make_timestamp_ltz(2024, 3, 31, 2, 30, 0)',
        "make_timestamp(2024, 3, 31, 2, 30, 0, 'Europe/Paris')",
        "make_timestamp(2024, 1, 1, 0, 0, 0, '+09:00')",
      ]),
      timestamp_seconds: text(calls('timestamp_seconds', ['0', '1711846800'])),
      'intervals of days and months': micros(
        some.flatMap((value) => [`${value} + INTERVAL 1 DAY`, `${value} - INTERVAL 1 DAY`, `${value} + INTERVAL 1 MONTH`]),
      ),
      'intervals of hours': micros(some.flatMap((value) => [`${value} + INTERVAL 1 HOUR`, `${value} - INTERVAL 36 HOURS`])),
      'dates and intervals': micros(days.slice(0, 2).map((day) => `${day} + INTERVAL 3 HOURS`)),
      datediff: [
        "datediff(TIMESTAMP '2024-03-31 23:30:00Z', TIMESTAMP '2024-03-31 00:30:00Z')",
        "datediff(TIMESTAMP '2024-04-01 00:00:00', DATE '2024-03-31')",
      ],
      timestampdiff: ['HOUR', 'DAY', 'MONTH', 'MINUTE'].map(
        (unit) => `timestampdiff(${unit}, TIMESTAMP '2024-03-30 02:30:00', TIMESTAMP '2024-03-31 03:30:00')`,
      ),
      months_between: ["months_between(TIMESTAMP '2024-03-31 00:30:00', TIMESTAMP '2024-02-29 23:30:00')"],
      comparisons: [
        ...texts.slice(0, 5).map((value) => `TIMESTAMP ${value} = ${value}`),
        ...days.slice(0, 3).map((day, index) => `TIMESTAMP ${texts[index] ?? ''} >= ${day}`),
        "TIMESTAMP '2024-01-01 00:00:00' = TIMESTAMP_NTZ '2024-01-01 00:00:00'",
        "TIMESTAMP '2024-01-01 00:00:00' IN ('2024-01-01', '2024-01-02')",
        "TIMESTAMP '2024-01-01 00:00:00' BETWEEN '2024-01-01' AND DATE '2024-01-01'",
      ],
      choices: micros([
        "coalesce(CAST(NULL AS TIMESTAMP), DATE '2024-01-01')",
        "CASE WHEN true THEN DATE '2024-01-01' ELSE TIMESTAMP '2024-01-02 00:00:00' END",
        "if(true, TIMESTAMP_NTZ '2024-01-01 00:00:00', TIMESTAMP '2024-01-02 00:00:00')",
        "greatest(DATE '2024-01-02', TIMESTAMP '2024-01-01 12:00:00')",
      ]),
      from_utc_timestamp: text([
        ...calls('from_utc_timestamp', instants.slice(0, 3), ["'Asia/Seoul'", "'Europe/Berlin'", "'+05:30'", "'PST'"]),
        "from_utc_timestamp('2016-08-31', 'Asia/Seoul')",
        "from_utc_timestamp(NULL, 'Asia/Seoul')",
      ]),
      to_utc_timestamp: text([
        ...calls('to_utc_timestamp', instants.slice(0, 3), ["'Asia/Seoul'", "'Europe/Berlin'", "'UTC'"]),
        "to_utc_timestamp('2016-08-31', 'Asia/Seoul')",
      ]),
      'zones that there are not': rows('from_utc_timestamp', "TIMESTAMP '2024-01-01 00:00:00', 'Europe/Nowhere'"),
      convert_timezone: text([
        "convert_timezone('Europe/Brussels', 'America/Los_Angeles', TIMESTAMP_NTZ '2021-12-06 00:00:00')",
        "convert_timezone('America/Los_Angeles', TIMESTAMP_NTZ '2021-12-06 00:00:00')",
        "convert_timezone('Europe/Berlin', '+03:00', TIMESTAMP_NTZ '2024-10-27 02:30:00')",
        "convert_timezone('UTC', 'Europe/Berlin', TIMESTAMP_NTZ '2024-10-27 01:30:00')",
      ]),
      json: [
        "to_json(named_struct('a', TIMESTAMP '2024-07-01 10:00:00'))",
        "to_json(named_struct('a', TIMESTAMP '1880-01-01 10:00:00'))",
        `unix_micros(from_json('{"a":"2024-07-01 10:00:00"}', 'a TIMESTAMP').a)`,
        `unix_micros(from_json('{"a":"2024-07-01T10:00:00Z"}', 'a TIMESTAMP').a)`,
      ],
      sequence: text(["sequence(TIMESTAMP '2024-03-30 12:00:00', TIMESTAMP '2024-04-01 12:00:00', INTERVAL 1 DAY)"]),
      current_timezone: ['current_timezone()', 'current_date() = to_date(now())', 'localtimestamp() = CAST(now() AS TIMESTAMP_NTZ)'],
      names: ["TIMESTAMP '2024-03-31 00:59:59Z'", "TIMESTAMP '2024-03-31 02:30:00'", "DATE '2024-03-31'"].map(
        (value) => `CAST(${value} AS STRING)`,
      ),
    }),
  };
}

/** Functions and casts of times in sessions of other zones than UTC. */
export const timeZones: readonly ExpressionSuite[] = Object.entries(zones).map(suiteOf);
