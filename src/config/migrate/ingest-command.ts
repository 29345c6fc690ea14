/** Short names of options, and those that stand alone. */
const longNames: Readonly<Record<string, string>> = {
  k: 'kafka',
  g: 'consumer_group',
  a: 'app_id',
  o: 'auto_offset_reset',
  l: 'allowed_latency',
  m: 'max_messages_per_batch',
  b: 'min_bytes_per_file',
  t: 'transform',
  c: 'checkpoints',
  K: 'kafka_setting',
  s: 'statsd_endpoint',
  e: 'ends_at_latest_offsets',
};
const alone = new Set(['checkpoints', 'ends_at_latest_offsets']);
/** Options that may be given again and again; each is one of its own, with a number behind it. */
const repeated = new Set(['transform', 'dlq_transform', 'kafka_setting']);
const maxWords = 10_000;

/**
 * The options of a command line of kafka-delta-ingest, `cargo run … ingest <topic> <table>` among them; `topic` and `table_location` are
 * those of its arguments. `undefined`: the text is none.
 */
export function ingestCommandOptions(text: string): ReadonlyMap<string, string> | undefined {
  if (/^[[{]/.test(text) || text.includes('connector.class') || !/(?:^|[\s/])(?:kafka-delta-ingest|cargo\s+run)\s/.test(text))
    return undefined;
  const words = shellWords(text).slice(0, maxWords);
  const from = words.indexOf('ingest');
  if (from < 0) return undefined;
  const values = new Map<string, string>();
  const counts = new Map<string, number>();
  const set = (option: string, value: string): void => {
    const count = (counts.get(option) ?? 0) + 1;
    counts.set(option, count);
    values.set(repeated.has(option) || option === 'argument' ? `${option}.${count}` : option, value);
  };
  const places = ['topic', 'table_location'];
  let last: string | undefined;
  for (let index = from + 1; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const [, long, inline] = /^--([\w-]+)(?:=([^]*))?$/.exec(word) ?? [];
    const option = long ?? longNames[/^-([A-Za-z])$/.exec(word)?.[1] ?? ''];
    if (option !== undefined) {
      const value = alone.has(option) ? 'true' : (inline ?? words[(index += 1)] ?? '');
      set(option, value);
      last = option;
    } else {
      const place = places.shift();
      // Several values may follow one name.
      const name = place ?? (last !== undefined && repeated.has(last) ? last : 'argument');
      set(name, word);
    }
  }
  return values;
}

/** Words of a shell: quotes are taken off, a backslash before the end of a line joins lines. */
function shellWords(text: string): readonly string[] {
  const words: string[] = [];
  for (const [, word = ''] of text.replaceAll(/\\\r?\n/g, ' ').matchAll(/((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+)/g)) {
    words.push(
      word.replaceAll(
        /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
        (_, single?: string, double?: string, plain?: string) => single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? plain ?? '',
      ),
    );
  }
  return words;
}
