import { SHAPES } from '../rules/event-shapes.js';
import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type GivenOptions,
  type OptionTable,
  type ParsedCall,
} from '#libs/platform/terminal/commands.js';
import type { EntryKind } from '#libs/journal/journal.js';
import { JOURNAL_FAMILIES, type JournalFamily } from '#libs/journal/journal-id.js';
import type { StoreKind } from '#libs/journal/stores/journal-store.js';

const FAMILY_OPTION = {
  family: { type: 'string', value: JOURNAL_FAMILIES.join('|'), default: 'auction', text: 'which journals' },
} as const satisfies OptionTable;
const SHARD_OPTION = {
  shard: { type: 'string', value: 'n', text: 'only this shard' },
} as const satisfies OptionTable;
const STORE_OPTION = {
  store: {
    type: 'string',
    value: 'postgres|kafka',
    text: 'use this store, even if the journals are kept in the other one',
  },
} as const satisfies OptionTable;

export const JOURNAL = {
  name: 'journal',
  commands: [
    {
      name: 'verify',
      operands: [],
      options: {
        ...FAMILY_OPTION,
        ...SHARD_OPTION,
        ...STORE_OPTION,
        'chain-only': {
          type: 'boolean',
          text: 'check only the journals themselves: their chain, their end and their seals as far as the database knows them',
        },
        ...OUTPUT_OPTION,
      },
      summary:
        'checks that all journals are complete and unchanged, and that everything made from them agrees',
      explanation: [
        'Checks hash chain, sequences, epochs and seals. Replays every auction, and names records that break the rules. Compares projections and',
        'snapshots row by row, and each award with the ledger to the atom. Each transaction of the ledger must belong to one award or reference.',
        'If no owner runs, it checks reservations too. For families other than auctions it checks only the journals themselves.',
      ],
    },
    {
      name: 'dump',
      operands: [],
      options: {
        ...FAMILY_OPTION,
        ...SHARD_OPTION,
        ...STORE_OPTION,
        from: { type: 'string', value: 'n', text: 'from this sequence on' },
        to: { type: 'string', value: 'n', text: 'up to this sequence' },
        kind: { type: 'string', value: 'event|epoch', text: 'only records of this kind' },
        type: { type: 'string', value: 'TYPE', text: 'only events of this type, such as QUOTE_SUBMITTED' },
        auction: { type: 'string', value: 'id', text: 'only events of this auction' },
        raw: { type: 'boolean', text: 'payloads as text, exactly as they were hashed' },
      },
      summary: 'writes records to standard output, one JSON document a line',
      explanation: [
        'For a damaged journal it writes the records before the damage, then the records from there on, marked as damaged.',
      ],
    },
    {
      name: 'copy',
      operands: [],
      options: {
        ...FAMILY_OPTION,
        from: { type: 'string', value: 'postgres|kafka', text: 'the store that has the journals' },
        to: { type: 'string', value: 'kafka|postgres', text: 'the store to move them to' },
        ...OUTPUT_OPTION,
      },
      summary: 'moves the journals of a stopped cluster from PostgreSQL to Kafka or back, record by record',
      explanation: [
        'After an interruption, run it again: it continues if the records that were copied so far are the same, seals included.',
      ],
    },
    {
      name: 'compare',
      operands: [],
      options: { ...FAMILY_OPTION, ...SHARD_OPTION, ...OUTPUT_OPTION },
      summary: 'compares the journals in PostgreSQL and in Kafka, record by record and seal by seal',
    },
    {
      name: 'accept-restored',
      operands: [],
      options: { confirm: { type: 'boolean', text: 'make the changes' }, ...OUTPUT_OPTION },
      summary: 'brings a database that was restored from a backup up to its topics in Kafka',
      explanation: [
        'Settles in the ledger what was settled since the backup, each award by the route that its record names, all or nothing.',
        'Without --confirm it only shows what it would do.',
      ],
    },
  ],
  notes: [
    'The database is DATABASE_URL, else that of the cluster on DATA_DIR (.data). If no cluster runs, the database is started for the time.',
    'Kafka is found by the same KAFKA_* settings as in the cluster. The keys of seals come from ID_KEY, or without DATABASE_URL from DATA_DIR.',
    'copy and accept-restored need them; without them verify checks no seals. Exit codes: 0 all is well; 1 something is damaged or',
    'differs; 64 wrong usage; 65 a topic has lost its journal, or is another, or a journal ends with records that no owner has sealed;',
    '69 something does not answer, or owners run; 78 a wrong setting.',
  ],
} as const satisfies CommandArea;

type JournalCommand = (typeof JOURNAL)['commands'][number];

export interface DumpFilter {
  readonly from: number;
  readonly to: number;
  readonly kind?: EntryKind;
  readonly type?: string;
  readonly auction?: string;
  readonly raw: boolean;
}

export interface JournalCall {
  readonly command: JournalCommand['name'];
  readonly family: JournalFamily;
  readonly shard?: number;
  readonly json: boolean;
  readonly store?: StoreKind;
  readonly chainOnly: boolean;
  readonly dump: DumpFilter;
  readonly confirmed: boolean;
  readonly copy: { readonly from: StoreKind; readonly to: StoreKind };
}

const UUID = /^\d[0-9a-f]{7}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const STORES: readonly StoreKind[] = ['postgres', 'kafka'];
const KINDS: readonly EntryKind[] = ['event', 'epoch'];

export function callOf({ command, options, json }: ParsedCall<JournalCommand>, shards: number): JournalCall {
  const family = oneOf(options.text('family'), JOURNAL_FAMILIES, '--family') ?? 'auction';
  if (family !== 'auction' && (options.text('auction') ?? options.text('type')) !== undefined) {
    throw new UsageFault('--auction and --type are for journals of auctions');
  }
  const auction = textOf(options.text('auction'), UUID, 'an auction is named by its id');
  const shard = shardOf(options.text('shard'), auction, family === 'auction' ? shards : Infinity);
  const store = oneOf(options.text('store'), STORES, '--store');
  return {
    command: command.name,
    family,
    json,
    chainOnly: options.isSet('chain-only'),
    confirmed: options.isSet('confirm'),
    ...(shard === undefined ? {} : { shard }),
    ...(store === undefined ? {} : { store }),
    dump: command.name === 'dump' ? filterOf(options, auction) : { from: 1, to: Infinity, raw: false },
    copy: command.name === 'copy' ? directionOf(options) : { from: 'postgres', to: 'kafka' },
  };
}

function shardOf(
  typedShard: string | undefined,
  auction: string | undefined,
  shards: number,
): number | undefined {
  const text = textOf(typedShard, /^\d{1,4}$/, 'a shard is a number such as 0');
  const requested = text === undefined ? undefined : Number(text);
  if (requested !== undefined && requested >= shards)
    throw new UsageFault(`there are shards 0 to ${shards - 1}`);
  const ofAuction = auction === undefined ? undefined : Number(auction[0]);
  if (requested !== undefined && ofAuction !== undefined && requested !== ofAuction) {
    throw new UsageFault(`auction ${auction ?? ''} belongs to shard ${ofAuction}`);
  }
  return requested ?? ofAuction;
}

function filterOf(options: GivenOptions, auction: string | undefined): DumpFilter {
  const kind = oneOf(options.text('kind'), KINDS, '--kind');
  // An unknown type would select nothing, as if such an event had never happened.
  const type = oneOf(options.text('type'), Object.keys(SHAPES), '--type');
  return {
    from: sequenceOf(options.text('from')) ?? 1,
    to: sequenceOf(options.text('to')) ?? Infinity,
    raw: options.isSet('raw'),
    ...(kind === undefined ? {} : { kind }),
    ...(type === undefined ? {} : { type }),
    ...(auction === undefined ? {} : { auction }),
  };
}

function directionOf(options: GivenOptions): JournalCall['copy'] {
  const from = oneOf(options.text('from'), STORES, '--from');
  const to = oneOf(options.text('to'), STORES, '--to');
  if (from === undefined || to === undefined || from === to) {
    throw new UsageFault('copy needs --from postgres --to kafka, or the other way round');
  }
  return { from, to };
}

function sequenceOf(value: string | undefined): number | undefined {
  const text = textOf(value, /^[1-9]\d{0,14}$/, 'sequences are numbers from 1 on');
  return text === undefined ? undefined : Number(text);
}

function textOf(value: string | undefined, pattern: RegExp, otherwise: string): string | undefined {
  if (value === undefined) return undefined;
  if (!pattern.test(value)) throw new UsageFault(otherwise);
  return value;
}

function oneOf<T extends string>(value: string | undefined, all: readonly T[], name: string): T | undefined {
  if (value === undefined) return undefined;
  const found = all.find((one) => one === value);
  if (found === undefined) throw new UsageFault(`${name} is one of ${all.join(', ')}`);
  return found;
}
