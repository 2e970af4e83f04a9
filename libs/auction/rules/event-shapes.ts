import type { AuctionEventBody, EventType, ShardEventBody } from './events.js';

/** Returns the path of the first fault in a value, or undefined if there is none. */
export type ValueCheck = (value: unknown) => string | undefined;

type Fields = Readonly<Record<string, ValueCheck>>;
type Body = AuctionEventBody | ShardEventBody;
type DataOf<Type extends EventType> = Extract<Body, { type: Type }>['data'];
/** A shape for every field that an event of the type always has, and for no other. */
type FieldsOf<Data> = {
  readonly [Key in keyof Data as undefined extends Data[Key] ? never : Key]-?: ValueCheck;
};

const text: ValueCheck = (value) => (typeof value === 'string' ? undefined : '');
const flag: ValueCheck = (value) => (typeof value === 'boolean' ? undefined : '');
const whole: ValueCheck = (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : '');
const list: ValueCheck = (value) => (Array.isArray(value) ? undefined : '');

/** The path of a fault, seen from the level above. Empty when the value itself is wrong. */
export function within(name: string, fault: string): string {
  return fault === '' ? name : `${name}.${fault}`;
}

function each(item: ValueCheck): ValueCheck {
  return (value) => {
    if (!Array.isArray(value)) return '';
    for (let index = 0; index < value.length; index += 1) {
      const fault = item(value[index]);
      if (fault !== undefined) return within(`${index}`, fault);
    }
    return undefined;
  };
}

/** On the hot path of a replay: one pass over known names, no allocation unless there is a fault. */
function fieldsOf<Data>(fields: FieldsOf<Data>): ValueCheck {
  const entries = Object.entries(fields as Fields);
  return (value) => {
    if (typeof value !== 'object' || value === null) return '';
    for (const [name, shape] of entries) {
      const fault = shape((value as Readonly<Record<string, unknown>>)[name]);
      if (fault !== undefined) return within(name, fault);
    }
    return undefined;
  };
}

const hold = fieldsOf<{ venue: string; resource: string; asset: string; amount: number }>({
  venue: text,
  resource: text,
  asset: text,
  amount: whole,
});

const terms = fieldsOf<DataOf<'AUCTION_OPENED'>['terms']>({
  auction_id: text,
  rule_version: whole,
  originator: fieldsOf({ account_id: text, display_name: text, alias: text }),
  side: text,
  quantity_atoms: whole,
  routes: list,
  grid: fieldsOf({
    price_tick_atoms: whole,
    min_price_atoms: whole,
    max_price_atoms: whole,
    quantity_step_atoms: whole,
  }),
  min_fill_quantity_atoms: whole,
  allocation: text,
  max_winners: whole,
  opened_at: text,
  closes_at: text,
  quote_revision_policy: text,
  audience: list,
  identity_policy: fieldsOf({ originator: text, market_makers: text }),
  result_disclosure: text,
  execution_deadline_ms: whole,
});

const quote = fieldsOf<DataOf<'QUOTE_SUBMITTED'>['quote']>({
  quote_id: text,
  maker: text,
  revision: whole,
  price_atoms: whole,
  quantity_atoms: whole,
  min_quantity_atoms: whole,
  submitted_at: text,
  hold: each(hold),
});

const award = fieldsOf<DataOf<'AUCTION_AWARDED'>['awards'][number]>({
  award_id: text,
  quote_id: text,
  maker: text,
  price_atoms: whole,
  quantity_atoms: whole,
  maker_hold: each(hold),
  originator_hold: each(hold),
});

const step = fieldsOf<DataOf<'EXECUTION_SUBMITTED'>>({ award_id: text, attempt: whole });

const settlement = fieldsOf<NonNullable<DataOf<'EXECUTION_CONFIRMED'>['settlement']>>({
  venue: text,
  asset: text,
  delivered_atoms: whole,
});

/** The settlement is optional, but where it is present the ledger depends on it to settle the award again. */
const confirmed: ValueCheck = (value) => {
  const fault = step(value);
  if (fault !== undefined) return fault;
  const { settlement: details } = value as DataOf<'EXECUTION_CONFIRMED'>;
  const wrong = details === undefined ? undefined : settlement(details);
  return wrong === undefined ? undefined : within('settlement', wrong);
};

const shift = fieldsOf<{ operator: string }>({ operator: text });

/** The required data of each event type in its current version, as far as the rules depend on it. */
export const SHAPES: Readonly<Record<EventType, ValueCheck>> = {
  AUCTION_OPENED: fieldsOf<DataOf<'AUCTION_OPENED'>>({ terms, hold: each(hold) }),
  QUOTE_SUBMITTED: fieldsOf<DataOf<'QUOTE_SUBMITTED'>>({ quote }),
  QUOTE_REVISED: fieldsOf<DataOf<'QUOTE_REVISED'>>({ quote, keeps_priority: flag }),
  QUOTE_WITHDRAWN: fieldsOf<DataOf<'QUOTE_WITHDRAWN'>>({ quote_id: text, maker: text, by: text }),
  QUOTE_EXPIRED: fieldsOf<DataOf<'QUOTE_EXPIRED'>>({ quote_id: text, maker: text }),
  QUOTE_REJECTED: fieldsOf<DataOf<'QUOTE_REJECTED'>>({
    maker: text,
    operation: text,
    error: text,
    message: text,
  }),
  CANCEL_REJECTED: fieldsOf<DataOf<'CANCEL_REJECTED'>>({ error: text, message: text }),
  AUCTION_CANCELLED: fieldsOf<DataOf<'AUCTION_CANCELLED'>>({ by: text }),
  AUCTION_VOIDED: fieldsOf<DataOf<'AUCTION_VOIDED'>>({ by: text }),
  AUCTION_CLOSED: fieldsOf({}),
  AUCTION_AWARDED: fieldsOf<DataOf<'AUCTION_AWARDED'>>({ awards: each(award), execution_deadline: text }),
  AUCTION_NOT_AWARDED: fieldsOf<DataOf<'AUCTION_NOT_AWARDED'>>({ reason: text }),
  EXECUTION_SUBMITTED: step,
  EXECUTION_RETRYING: step,
  EXECUTION_CONFIRMED: confirmed,
  EXECUTION_FAILED: step,
  AUCTION_COMPLETED: fieldsOf<DataOf<'AUCTION_COMPLETED'>>({ status: text }),
  CREATE_REJECTED: fieldsOf<DataOf<'CREATE_REJECTED'>>({
    auction_id: text,
    account_id: text,
    error: text,
    message: text,
  }),
  ALL_WITHDRAWN: fieldsOf<DataOf<'ALL_WITHDRAWN'>>({
    account_id: text,
    withdrawn: each(text),
    not_withdrawable: list,
  }),
  CONNECTION_NOTED: fieldsOf<DataOf<'CONNECTION_NOTED'>>({ connection_id: text, account_id: text }),
  SHARD_DRAINED: shift,
  SHARD_RESUMED: shift,
};
