import type { FaultLocation, ValueFault } from '#libs/edge/decoding/reading.js';
import type { Fault } from '#libs/edge/dialect/fault.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { plainJson } from './bodies.js';

/** One fault in the body of a 422. */
export interface UnreadableValue {
  readonly type: string;
  /** `query`, `path` or `body`, then field and index. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

const LONGEST_INPUT = 512;

const DEFAULTS: Readonly<Record<ValueFault, readonly [type: string, msg: string]>> = {
  missing: ['missing', 'It is required'],
  unknown: ['extra_forbidden', 'It is not known here'],
  mismatch: ['value_error', 'It is not of its kind'],
  repeated: ['repeated', 'It must be given once'],
};

/** The reply with 422: which parts of the request cannot be read. */
export function unreadable(fault: Fault, part: 'query' | 'path' | 'body'): Reply {
  const { locations = [], location } = fault;
  const found = locations.length > 0 ? locations : location === undefined ? [] : [location];
  const detail = found.map((each) => valueAt(each, part));
  return { status: 422, body: { detail: detail.length > 0 ? detail : [whole(fault, part)] } };
}

function valueAt({ path, reason, why }: FaultLocation, part: string): UnreadableValue {
  const [type, msg] = DEFAULTS[reason];
  const loc = [part, ...path];
  return why === undefined
    ? { type, loc, msg, input: null }
    : { type: why.type, loc, msg: why.message, input: shown(why.input) };
}

function whole({ kind }: Fault, part: string): UnreadableValue {
  const isBroken = kind === 'invalid-json' || kind === 'trailing-data';
  return isBroken
    ? { type: 'json_invalid', loc: [part], msg: 'It must be one JSON object', input: null }
    : { type: 'value_error', loc: [part], msg: 'It cannot be read', input: null };
}

/** The value as it was sent, cut if it is long: a reply must not echo a large body. */
function shown(input: unknown): unknown {
  const plain = plainJson(input);
  if (typeof plain === 'string') return plain.slice(0, LONGEST_INPUT);
  return typeof plain === 'object' && JSON.stringify(plain).length > LONGEST_INPUT ? null : plain;
}
