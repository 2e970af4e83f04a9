import { type Decoded, type Decoder, type JsonSchema, MISMATCH, object } from '#libs/edge/decoding/decode.js';
import { atoms, enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { Reading } from '#libs/edge/decoding/reading.js';
import { type JsonRules, parseJson } from '#libs/edge/decoding/strict-json.js';
import { VENUE_IDS, type VenueId, venueNamed } from '../rules/venues.js';
import { type CommandName, COMMANDS } from './ports.js';
import { type ClientFrame, isRecord } from './frames.js';
import { type FrameRefusal, invalid, TWICE, unknownField } from './server-messages.js';

/** The highest number of subscriptions in `seen`. */
const MAX_SEEN = 256;
const RULES: JsonRules = { numbers: 'raw', maxDepth: 64, nulls: 'absent' };

const seen: Decoder<Readonly<Record<string, number>>> = {
  decode(value) {
    if (!isRecord(value)) return MISMATCH;
    const held: Record<string, number> = {};
    for (const [id, seqValue] of Object.entries(value)) {
      const seq = atoms.decode(seqValue);
      if (seq === MISMATCH) return MISMATCH;
      held[id] = seq;
    }
    return Object.keys(held).length > MAX_SEEN ? MISMATCH : held;
  },
  describe: (): JsonSchema => ({
    type: 'object',
    additionalProperties: atoms.describe(),
    maxProperties: MAX_SEEN,
  }),
};

const venues: Decoder<readonly VenueId[]> = {
  decode(value) {
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_SEEN) return MISMATCH;
    const named = value.map((id: unknown) => (typeof id === 'string' ? venueNamed(id)?.venue : undefined));
    return named.includes(undefined) ? MISMATCH : VENUE_IDS.filter((venue) => named.includes(venue));
  },
  describe: (): JsonSchema => ({ type: 'array', items: { enum: VENUE_IDS }, minItems: 1 }),
};

/** Messages that concern the connection itself, without `op` and `req_id`. */
export const CONTROL_MESSAGES = {
  hello: object({
    optional: {
      resume_token: text(),
      seen,
      cancel_on_disconnect: object({ required: { grace_ms: atoms } }),
    },
  }),
  subscribe: object({ required: { channel: enumOf(['orders']) }, optional: { exchange_ids: venues } }),
  unsubscribe: object({ required: { subscription_id: text() } }),
  'auth.refresh': object({ required: { token: text() } }),
  ping: object({}),
  bye: object({}),
} as const satisfies Record<string, Decoder<object>>;

export type SocketControlName = keyof typeof CONTROL_MESSAGES;
export type SocketControl<Name extends SocketControlName> = Decoded<(typeof CONTROL_MESSAGES)[Name]>;

const CONTROLS = ['hello', 'subscribe', 'unsubscribe', 'auth.refresh', 'ping', 'bye'] as const;
/** All operations that a client may send. */
export const CLIENT_OPS: readonly (SocketControlName | CommandName)[] = [...CONTROLS, ...COMMANDS];

export function isCommand(op: string): op is CommandName {
  return COMMANDS.some((name) => name === op);
}

export function isControl(op: string): op is SocketControlName {
  return CONTROLS.some((name) => name === op);
}

type ReadResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: FrameRefusal };

/** As strict as the body of an HTTP request. */
export function readControl<T>(decoder: Decoder<T>, { members }: ClientFrame): ReadResult<T> {
  if (members === undefined) return { ok: false, refusal: TWICE };
  const text = `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
  const parsed = parseJson(Buffer.from(text), RULES);
  if (!parsed.ok) return { ok: false, refusal: invalid('body', 'The message is no JSON as strict as ours.') };
  const reading = new Reading({ unknown: 'refused', nulls: 'absent' });
  const value = decoder.decode(parsed.value, reading);
  if (value !== MISMATCH) return { ok: true, value };
  const { path = [], reason } = reading.location ?? {};
  const field = path.join('.');
  return {
    ok: false,
    refusal: reason === 'unknown' ? unknownField(field) : invalid(field, `The field ${field} is not right.`),
  };
}
