/** How Spark prints a call where that is not its name and its arguments as they are written. */
type Shown = (args: readonly string[]) => string;

/** Arguments that are left out are printed with their defaults. */
function filled(name: string, ...defaults: (readonly [place: number, text: string])[]): Shown {
  return (args) => {
    const all = [...args];
    for (const [place, text] of defaults) if (all.length === place) all.push(text);
    return `${name}(${all.join(', ')})`;
  };
}

const renamed = (name: string): Shown => filled(name);
const cut =
  (name: string): Shown =>
  (args) =>
    `${name}(${args[0] ?? ''})`;
const secondsPattern: readonly [number, string] = [1, 'yyyy-MM-dd HH:mm:ss'];
const variable = 'namedlambdavariable()';
const ascending =
  `lambdafunction((IF(((${variable} IS NULL) AND (${variable} IS NULL)), 0, (IF((${variable} IS NULL), 1, (IF((${variable} IS NULL), -1, ` +
  `(IF((${variable} < ${variable}), -1, (IF((${variable} > ${variable}), 1, 0)))))))))), ${variable}, ${variable})`;

function trimmed(side: string): Shown {
  return ([text = '', characters]) => (characters === undefined ? '' : `TRIM(${side} ${characters} FROM ${text})`);
}

/** With two arguments Spark takes the characters first. */
function trimmedReversed(name: string, side: string): Shown {
  return ([first = '', second]) => (second === undefined ? `${name}(${first})` : `TRIM(${side} ${first} FROM ${second})`);
}

/** Aggregates over ordered rows: behind their own arguments come the value that orders and whether it descends. */
function within(name: string, own: number): Shown {
  return (args) => {
    const call = own === 1 ? `${name}(${args[0] ?? ''})` : filled(name, [1, 'NULL'])(args.slice(0, own));
    const [key, descending] = args.slice(own);
    if (key === undefined) return call;
    const nulls = own === 1 ? '' : ` NULLS ${descending === 'true' ? 'LAST' : 'FIRST'}`;
    return `${call} WITHIN GROUP (ORDER BY ${key}${descending === 'true' ? ` DESC${nulls}` : ''})`;
  };
}

const addedDays: Shown = (args) => (args.length === 3 ? `timestampadd(${args.join(', ')})` : `date_add(${args.join(', ')})`);
const passedDays =
  (name: string): Shown =>
  (args) =>
    `${args.length === 3 ? 'timestampdiff' : name}(${args.join(', ')})`;

export const shownCalls: Readonly<Record<string, Shown>> = {
  '+': (args) => args.join(' + '),
  '-': (args) => args.join(' - '),
  '<<': (args) => `(${args.join(' << ')})`,
  '>>': (args) => `(${args.join(' >> ')})`,
  '>>>': (args) => `(${args.join(' >>> ')})`,
  listagg: within('listagg', 2),
  string_agg: within('string_agg', 2),
  percentile_cont: within('percentile_cont', 1),
  percentile_disc: within('percentile_disc', 1),
  array_agg: renamed('collect_list'),
  array_sort: filled('array_sort', [1, ascending]),
  curdate: renamed('current_date'),
  current_database: renamed('current_schema'),
  date_diff: passedDays('date_diff'),
  dateadd: addedDays,
  datediff: passedDays('datediff'),
  extract: ([part = '', source = '']) => `extract(${part} FROM ${source})`,
  first: cut('first'),
  first_value: cut('first_value'),
  any_value: cut('any_value'),
  from_unixtime: filled('from_unixtime', secondsPattern),
  last: cut('last'),
  last_value: cut('last_value'),
  ltrim: trimmedReversed('ltrim', 'LEADING'),
  ltrim_characters: trimmed('LEADING'),
  mask: filled('mask', [1, 'X'], [2, 'x'], [3, 'n'], [4, 'NULL']),
  months_between: filled('months_between', [2, 'true']),
  overlay: filled('overlay', [3, '-1']),
  percentile: filled('percentile', [2, '1']),
  percentile_approx: filled('percentile_approx', [2, '10000']),
  approx_percentile: filled('approx_percentile', [2, '10000']),
  regexp: renamed('REGEXP'),
  regexp_extract: filled('regexp_extract', [2, '1']),
  regexp_extract_all: filled('regexp_extract_all', [2, '1']),
  regexp_instr: filled('regexp_instr', [2, '0']),
  regexp_like: renamed('REGEXP_LIKE'),
  regexp_replace: filled('regexp_replace', [3, '1']),
  replace: filled('replace', [2, '']),
  rlike: renamed('RLIKE'),
  rtrim: trimmedReversed('rtrim', 'TRAILING'),
  rtrim_characters: trimmed('TRAILING'),
  sort_array: filled('sort_array', [1, 'true']),
  split: filled('split', [2, '-1']),
  str_to_map: filled('str_to_map', [1, ','], [2, ':']),
  to_unix_timestamp: filled('to_unix_timestamp', secondsPattern),
  trim_characters: trimmed('BOTH'),
  unix_timestamp: filled('unix_timestamp', secondsPattern),
};
