import { throwIfAborted } from '../../base/abort.ts';
import { type Clock, toEpochMs } from '../../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { KafkaClient, TransactionalProducer } from '../../kafka/client.ts';
import { parseWriterId } from '../../protocol/source-offsets.ts';
import { maxMessageBytesOf } from '../max-message-bytes.ts';
import { untilVisible } from '../visible-end.ts';
import { isAccepted, judgeLetter, type LetterVerdict, type ReplayRefusal, type ReplayTable } from './judge-letter.ts';
import { type LetterFilter, readLetter, readLetters } from './read-letters.ts';
import { type Replay, ReplayParcel } from './replay-parcel.ts';
import { ReplayedLetters, readReplayed } from './replayed-letters.ts';
import type { StoredLetter } from './stored-letter.ts';

const transactionTimeoutMs = 60_000;
/** The letters' `max.message.bytes` and so much more, for the header that a replayed record has in place of a letter's. */
const roomForHeaderBytes = 4 * 1024;

/** Which letters are to be replayed. */
export interface ReplayRequest {
  readonly filter: LetterFilter;
  /** Only these letters, each of which must be there. Absent: all that the filter means. */
  readonly places?: readonly { readonly partition: number; readonly offset: bigint }[] | undefined;
  /** Letters to replay at most. Default: all. */
  readonly limit?: number | undefined;
  /** Also those that were replayed before. */
  readonly again: boolean;
  /** Only tell. */
  readonly dryRun: boolean;
}

export type ReplayOutcome =
  /** Its record is in the replay topic; in a dry run it would be. */
  | { readonly kind: 'replayed' }
  | { readonly kind: 'replayed-before'; readonly at: string }
  | { readonly kind: 'refused'; readonly why: ReplayRefusal };

export interface ReplayReport {
  readonly replayed: number;
  readonly replayedBefore: number;
  readonly otherPipelines: number;
  readonly refused: number;
}

export interface ReplayDependencies {
  readonly kafka: KafkaClient;
  readonly clock: Clock;
  readonly pipeline: string;
  readonly deadLetterTopic: string;
  readonly replayTopic: string;
  /** Of the replay topic, when it has to be created. */
  readonly partitions: number;
  /** The routed tables that are there. */
  readonly tables: ReadonlyMap<string, ReplayTable>;
  /** Letters of one transaction. Default 1000. */
  readonly maxParcelLetters?: number | undefined;
}

/**
 * Writes the records of letters to the replay topic, from which the pipeline's tables read them. Each letter once, however often this is called and
 * wherever it is killed: what was replayed is read from the topic after every earlier replay of the pipeline was fenced, and nobody else writes there
 * until another one begins.
 *
 * @param onOutcome told in order of what has happened; letters of other pipelines are only counted.
 * @throws ServiceError `DEAD_LETTER_REPLAY_FENCED` (fenced) when another replay of the pipeline began; `DEAD_LETTER_REPLAYS_LOST` (discontinuity)
 *   when the replay topic was made anew; `DEAD_LETTER_NOT_FOUND` for a place without a letter, before anything is written.
 */
export async function replayLetters(
  to: ReplayDependencies,
  request: ReplayRequest,
  onOutcome: (letter: StoredLetter, outcome: ReplayOutcome) => Promise<void>,
  signal?: AbortSignal,
): Promise<ReplayReport> {
  const chosen = request.places === undefined ? undefined : await lettersAt(to, request.places, signal);
  const found = await to.kafka.admin.describeTopic(to.deadLetterTopic);
  if (found === undefined) return nothing;
  const { topicId } = found;
  if (!request.again) await refuseLostReplays(to);
  if (!request.dryRun) await ensureReplayTopic(to);
  const producer = request.dryRun ? undefined : await openProducer(to);
  try {
    const run = new Replaying({ ...to, topicId }, producer, onOutcome);
    await run.learn(request, signal);
    const filter = request.filter;
    const letters = chosen ?? readLetters(to.kafka, { topic: to.deadLetterTopic, topicId, filter, signal });
    return await run.replay(letters, request, signal);
  } catch (error) {
    throw isServiceError(error, 'fenced') ? fenced(to, error) : error;
  } finally {
    await producer?.close();
  }
}

const nothing: ReplayReport = { replayed: 0, replayedBefore: 0, otherPipelines: 0, refused: 0 };

/** What is replayed is of this incarnation of the dead-letter topic. */
interface ReplayFrom extends ReplayDependencies {
  readonly topicId: string;
}

class Replaying {
  readonly #to: ReplayFrom;
  /** Of a dry run none. */
  readonly #producer: TransactionalProducer | undefined;
  readonly #tell: (letter: StoredLetter, outcome: ReplayOutcome) => Promise<void>;
  readonly #report = { ...nothing } as { -readonly [Name in keyof ReplayReport]: number };
  #known: ReplayedLetters = new ReplayedLetters('');
  #parcel: ReplayParcel | undefined;

  constructor(
    to: ReplayFrom,
    producer: TransactionalProducer | undefined,
    tell: (letter: StoredLetter, outcome: ReplayOutcome) => Promise<void>,
  ) {
    this.#to = to;
    this.#producer = producer;
    this.#tell = tell;
  }

  /** Reads what earlier replays have written: they are fenced by now, and what they left open was given up. */
  async learn({ filter, again, places }: ReplayRequest, signal: AbortSignal | undefined): Promise<void> {
    const { kafka, clock, replayTopic, topicId, maxParcelLetters } = this.#to;
    if ((await kafka.admin.partitionCount(replayTopic)) !== undefined) {
      const spans = await kafka.admin.recordsSince(replayTopic, 0);
      await untilVisible({ admin: kafka.admin, clock }, replayTopic, spans, signal);
    }
    const ofLetters = places === undefined ? filter : {};
    if (!again) this.#known = await readReplayed(kafka, { replayTopic, topicId, filter: ofLetters, signal });
    if (this.#producer !== undefined)
      this.#parcel = await ReplayParcel.open({ kafka, topic: replayTopic, producer: this.#producer, maxLetters: maxParcelLetters });
  }

  async replay(
    letters: AsyncIterable<StoredLetter> | Iterable<StoredLetter>,
    { limit = Number.POSITIVE_INFINITY, again }: ReplayRequest,
    signal: AbortSignal | undefined,
  ): Promise<ReplayReport> {
    let taken = 0;
    for await (const letter of letters) {
      throwIfAborted(signal);
      const before = this.#known.replayedAt(letter.place);
      const verdict = judgeLetter(letter, this.#to);
      if (before !== undefined && verdict.kind !== 'other-pipeline') {
        this.#report.replayedBefore += 1;
        await this.#tell(letter, { kind: 'replayed-before', at: before });
      } else if (verdict.kind === 'replay' && !again && (await isAccepted(letter, this.#to, signal)))
        await this.#refuse(letter, 'accepted');
      else if (await this.#take(letter, verdict)) taken += 1;
      if (taken >= limit) break;
    }
    await this.#flush();
    return this.#report;
  }

  /** True: the letter is replayed with the parcel, or would be. */
  async #take(letter: StoredLetter, verdict: LetterVerdict): Promise<boolean> {
    if (verdict.kind === 'other-pipeline') {
      this.#report.otherPipelines += 1;
      return false;
    }
    if (verdict.kind === 'refused') {
      await this.#refuse(letter, verdict.why);
      return false;
    }
    if (this.#parcel === undefined) {
      await this.#replayed(letter);
      return true;
    }
    const replay: Replay = { letter, record: this.#recordOf(letter, verdict), partition: verdict.history.partition };
    if (!this.#parcel.add(replay)) {
      await this.#refuse(letter, 'too-large');
      return false;
    }
    if (this.#parcel.isFull) await this.#flush();
    return true;
  }

  #recordOf(letter: StoredLetter, { table, tableId, history }: Extract<LetterVerdict, { kind: 'replay' }>): Replay['record'] {
    const { place, reason, stage, rejectedAt } = letter;
    return {
      ...history,
      letter: { topicId: this.#to.topicId, partition: place.partition, offset: place.offset },
      ...{ pipeline: this.#to.pipeline, table, tableId, reason, stage, rejectedAt },
      replayedAt: new Date(toEpochMs(this.#to.clock.now())).toISOString(),
    };
  }

  async #flush(): Promise<void> {
    for (const letter of (await this.#parcel?.publish()) ?? []) await this.#replayed(letter);
  }

  async #replayed(letter: StoredLetter): Promise<void> {
    this.#report.replayed += 1;
    await this.#tell(letter, { kind: 'replayed' });
  }

  async #refuse(letter: StoredLetter, why: ReplayRefusal): Promise<void> {
    this.#report.refused += 1;
    await this.#tell(letter, { kind: 'refused', why });
  }
}

async function lettersAt(
  { kafka, deadLetterTopic: topic }: ReplayDependencies,
  places: NonNullable<ReplayRequest['places']>,
  signal: AbortSignal | undefined,
): Promise<readonly StoredLetter[]> {
  const inOrder = places.toSorted((left, right) => left.partition - right.partition || (left.offset < right.offset ? -1 : 1));
  const letters: StoredLetter[] = [];
  for (const [index, place] of inOrder.entries()) {
    const before = inOrder[index - 1];
    if (before?.partition !== place.partition || before.offset !== place.offset)
      letters.push(await readLetter(kafka, { topic, ...place, signal }));
  }
  return letters;
}

/** Which letters were replayed is only known from the topic: one that was made anew has forgotten what the tables have taken. */
async function refuseLostReplays({ kafka, pipeline, replayTopic, tables }: ReplayDependencies): Promise<void> {
  const present = await kafka.admin.describeTopic(replayTopic);
  for (const [table, { marks }] of tables) {
    const sources = [...marks.keys()].flatMap((writerId) => parseWriterId(writerId, pipeline) ?? []);
    const ofTopic = sources.filter(({ topic }) => topic === replayTopic);
    if (ofTopic.length === 0 || ofTopic.some(({ topicId }) => topicId === present?.topicId)) continue;
    throw serviceError.discontinuity(
      'DEAD_LETTER_REPLAYS_LOST',
      `table "${table}" has read replayed letters of topic "${replayTopic}", which was deleted${present === undefined ? '' : ' and created again'} since: which letters were replayed is not known any more`,
      {
        hint: 'name letters that are not in the table, and replay them with --again; decide with ingest.onOffsetDiscontinuity where the table reads the new topic',
        context: { table, topic: replayTopic },
      },
    );
  }
}

async function ensureReplayTopic({ kafka, deadLetterTopic, replayTopic, partitions }: ReplayDependencies): Promise<void> {
  const taken = await maxMessageBytesOf(kafka, deadLetterTopic);
  const config = {
    'cleanup.policy': 'delete',
    // What was replayed is known from here, and tables may stand still for long.
    'retention.ms': '-1',
    'retention.bytes': '-1',
    ...(taken === undefined ? {} : { 'max.message.bytes': String(taken + roomForHeaderBytes) }),
  };
  await kafka.admin.ensureTopics([{ topic: replayTopic, partitions, config }]);
}

/** One name for all replays of a pipeline: the second of two ends the first. */
function openProducer({ kafka, pipeline }: ReplayDependencies): Promise<TransactionalProducer> {
  return kafka.openTransactional({ transactionalId: `tidewater-${pipeline}#dead-letter-replay`, transactionTimeoutMs });
}

function fenced({ pipeline, replayTopic }: ReplayDependencies, cause: ServiceError): ServiceError {
  return serviceError.fenced(
    'DEAD_LETTER_REPLAY_FENCED',
    `topic "${replayTopic}": another replay of pipeline "${pipeline}" began, and this one has ended; what it had replayed stays`,
    {
      hint: 'let the other replay end, and run this one again: it goes on with what is missing',
      context: { pipeline, topic: replayTopic },
      cause,
    },
  );
}
