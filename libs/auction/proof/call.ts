import { SHAPES } from '../rules/event-shapes.js';
import { parseCommandLine } from '#libs/platform/terminal/command-line.js';
import type { EntryKind } from '#libs/journal/journal.js';
import { JOURNAL_FAMILIES, type JournalFamily } from '#libs/journal/journal-id.js';
import type { StoreKind } from '#libs/journal/stores/journal-store.js';

export const USAGE = `Usage: npm run --silent journal -- <command> [options]

  verify    reads all journals and says whether they are whole and as they were written: hash chain, sequences, epochs, seals; runs every
            auction again and names records that the rules would not have written; whether projections and snapshots belong to
            them, row by row; whether each award stands in the ledger as they say, to the atom, and each transaction of it belongs to one
            award or one reference; and, where no owner runs, whether what is reserved is what they say
  dump      writes records to standard output, one JSON document a line; of a damaged journal those before the damage, then what
            stands from there on, marked
  copy      moves the journals of a stopped cluster from PostgreSQL to Kafka or back, record by record; what breaks off goes on
            where it was when it is called again, provided that what stands there is the same, seals included
  accept-restored
            brings a database that was restored from a backup up to its topics in Kafka: settles in its ledger what was settled since, each
            award by the route that its record names, all or nothing. Without --confirm it only says what that comes to
  compare   holds the journals in PostgreSQL and in Kafka against each other, record by record and seal by seal

  --family auction|execution|data
                       verify, dump, copy, compare: whose journals, else auction; of others than auctions verify looks at nothing but the journals
                       themselves
  --shard n            only this shard (not with copy)
  --store postgres|kafka
                       verify and dump: this store, also when the journals are kept in the other one
  --chain-only         verify: nothing but the journals themselves and whether they go as far, and are sealed, as the database was told, and not
                       whether the rules would have written them
  --from n, --to n     dump: from this sequence on, and up to this one
  --kind event|epoch   dump: only such records
  --type TYPE          dump: only events of this type, such as QUOTE_SUBMITTED
  --auction id         dump: only events of this auction
  --raw                dump: payloads as text, just as their hashes cover them
  --from postgres --to kafka, or the other way round
                       copy: where the journals are, and where they are to be
  --confirm            accept-restored: do it
  --output json        one JSON document instead of text; so is a fault, as the last line on standard error
  --help               this text

The database is that of DATABASE_URL, else that of the cluster on DATA_DIR (.data), which is started for the time where no cluster runs.
Kafka is found by the same KAFKA_* settings as the cluster's. The keys of seals are those of ID_KEY, else, without DATABASE_URL, those in
DATA_DIR; copy and accept-restored want them, and verify checks no seals without. Exit codes: 0 all is well; 1 something is damaged or differs;
64 called wrongly; 65 a topic has lost its journal, or is another, or a journal ends with what no owner has sealed; 69 something does not answer, or owners run; 78 a wrong setting.`;

export const COMMANDS = ['verify', 'dump', 'copy', 'compare', 'accept-restored'] as const;

export interface DumpFilter {
  readonly from: number;
  readonly to: number;
  readonly kind?: EntryKind;
  readonly type?: string;
  readonly auction?: string;
  readonly raw: boolean;
}

export interface Call {
  readonly command: (typeof COMMANDS)[number];
  readonly family: JournalFamily;
  readonly shard?: number;
  readonly json: boolean;
  readonly store?: StoreKind;
  readonly chainOnly: boolean;
  readonly dump: DumpFilter;
  readonly confirmed: boolean;
  readonly copy: { readonly from: StoreKind; readonly to: StoreKind };
}

/** Called in a way that means nothing. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault';
}

const OPTIONS = {
  family: { type: 'string' },
  shard: { type: 'string' },
  store: { type: 'string' },
  'chain-only': { type: 'boolean' },
  from: { type: 'string' },
  to: { type: 'string' },
  kind: { type: 'string' },
  type: { type: 'string' },
  auction: { type: 'string' },
  raw: { type: 'boolean' },
  confirm: { type: 'boolean' },
  output: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Typed = { readonly [K in keyof typeof OPTIONS]?: string | boolean };

/** What each command takes; anything else would be ignored silently. */
const TAKES: Readonly<Record<Call['command'], readonly (keyof typeof OPTIONS)[]>> = {
  verify: ['family', 'shard', 'store', 'chain-only', 'output'],
  dump: ['family', 'shard', 'store', 'from', 'to', 'kind', 'type', 'auction', 'raw'],
  copy: ['family', 'from', 'to', 'output'],
  compare: ['family', 'shard', 'output'],
  'accept-restored': ['confirm', 'output'],
};
const UUID = /^\d[0-9a-f]{7}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const STORES: readonly StoreKind[] = ['postgres', 'kafka'];
const KINDS: readonly EntryKind[] = ['event', 'epoch'];

/** What is asked for; undefined for help. */
export function callOf(args: readonly string[], shards: number): Call | undefined {
  const { values, positionals } = typed(args);
  if (values.help === true) return undefined;
  const command = COMMANDS.find((name) => name === positionals[0]);
  if (command === undefined || positionals.length > 1) {
    throw new UsageFault(`expected one of ${COMMANDS.join(', ')}`);
  }
  const strange = Object.keys(values).find((name) => !TAKES[command].some((taken) => taken === name));
  if (strange !== undefined) throw new UsageFault(`${command} has no --${strange}`);
  if (values.output !== undefined && values.output !== 'json') {
    throw new UsageFault('the only other output is json');
  }
  const family = oneOf(values.family, JOURNAL_FAMILIES, '--family') ?? 'auction';
  if (family !== 'auction' && (values.auction ?? values.type) !== undefined) {
    throw new UsageFault('--auction and --type are for journals of auctions');
  }
  const auction = textOf(values.auction, UUID, 'an auction is the id of one');
  const shard = shardOf(values.shard, auction, family === 'auction' ? shards : Infinity);
  const store = oneOf(values.store, STORES, '--store');
  return {
    command,
    family,
    json: values.output === 'json',
    chainOnly: values['chain-only'] === true,
    confirmed: values.confirm === true,
    ...(shard === undefined ? {} : { shard }),
    ...(store === undefined ? {} : { store }),
    dump: command === 'dump' ? filterOf(values, auction) : { from: 1, to: Infinity, raw: false },
    copy: command === 'copy' ? directionOf(values) : { from: 'postgres', to: 'kafka' },
  };
}

function typed(args: readonly string[]): { readonly values: Typed; readonly positionals: readonly string[] } {
  try {
    return parseCommandLine({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

function shardOf(
  typedShard: Typed['shard'],
  auction: string | undefined,
  shards: number,
): number | undefined {
  const text = textOf(typedShard, /^\d{1,4}$/, 'a shard is a number such as 0');
  const asked = text === undefined ? undefined : Number(text);
  if (asked !== undefined && asked >= shards) throw new UsageFault(`there are shards 0 to ${shards - 1}`);
  const ofAuction = auction === undefined ? undefined : Number(auction[0]);
  if (asked !== undefined && ofAuction !== undefined && asked !== ofAuction) {
    throw new UsageFault(`auction ${auction ?? ''} is of shard ${ofAuction}`);
  }
  return asked ?? ofAuction;
}

function filterOf(values: Typed, auction: string | undefined): DumpFilter {
  const kind = oneOf(values.kind, KINDS, '--kind');
  // What there is none of would look like a journal in which it never happened.
  const type = oneOf(values.type, Object.keys(SHAPES), '--type');
  return {
    from: sequenceOf(values.from) ?? 1,
    to: sequenceOf(values.to) ?? Infinity,
    raw: values.raw === true,
    ...(kind === undefined ? {} : { kind }),
    ...(type === undefined ? {} : { type }),
    ...(auction === undefined ? {} : { auction }),
  };
}

function directionOf({ from: typedFrom, to: typedTo }: Typed): Call['copy'] {
  const from = oneOf(typedFrom, STORES, '--from');
  const to = oneOf(typedTo, STORES, '--to');
  if (from === undefined || to === undefined || from === to) {
    throw new UsageFault('copy wants --from postgres --to kafka, or the other way round');
  }
  return { from, to };
}

function sequenceOf(value: Typed['from']): number | undefined {
  const text = textOf(value, /^[1-9]\d{0,14}$/, 'sequences are numbers from 1 on');
  return text === undefined ? undefined : Number(text);
}

function textOf(value: string | boolean | undefined, pattern: RegExp, otherwise: string): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (!pattern.test(value)) throw new UsageFault(otherwise);
  return value;
}

function oneOf<T extends string>(
  value: string | boolean | undefined,
  all: readonly T[],
  name: string,
): T | undefined {
  if (value === undefined) return undefined;
  const found = all.find((one) => one === value);
  if (found === undefined) throw new UsageFault(`${name} is one of ${all.join(', ')}`);
  return found;
}
