import { MISMATCH, object, type Decoded, type Decoder, type JsonSchema } from '#libs/edge/decoding/decode.js';
import { atoms, enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { parseStrictText, type JsonObject } from '#libs/edge/decoding/strict-json.js';

/** A client message: its type, the id that its reply repeats, and its fields. */
export interface ClientMessage {
  readonly type: string;
  readonly cmdId: string;
  /** Undefined if the message is JSON but breaks the strict rules. */
  readonly fields: JsonObject | undefined;
}

/** The most subscriptions that `seen` may name. */
const MAX_SEEN = 256;

const seen: Decoder<Readonly<Record<string, number>>> = {
  decode(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return MISMATCH;
    const entries = Object.entries(value as Record<string, unknown>);
    const good = entries.length <= MAX_SEEN && entries.every(([, seq]) => atoms.decode(seq) !== MISMATCH);
    return good ? (Object.fromEntries(entries) as Record<string, number>) : MISMATCH;
  },
  describe: (): JsonSchema => ({
    type: 'object',
    additionalProperties: atoms.describe(),
    maxProperties: MAX_SEEN,
  }),
};

/** Messages about the connection itself, without `type` and `cmd_id`. */
export const CONTROL_MESSAGES = {
  hello: object({
    optional: {
      resume_token: text(),
      seen,
      cancel_on_disconnect: object({ required: { grace_ms: atoms } }),
    },
  }),
  subscribe: object({
    required: { channel: enumOf(['auctions', 'auction']) },
    optional: { auction_id: text(), after_seq: atoms },
  }),
  unsubscribe: object({ required: { subscription_id: text() } }),
  'auth.refresh': object({ required: { token: text() } }),
  ping: object({}),
  bye: object({}),
} as const satisfies Record<string, Decoder<object>>;

/** The commands. Their fields are those of the endpoint of the same name, including the ids of its path. */
export const COMMAND_MESSAGES = [
  'quote.submit',
  'quote.revise',
  'quote.withdraw',
  'quote.withdraw_all',
  'quote.preflight',
  'auction.cancel',
] as const;

export type ControlName = keyof typeof CONTROL_MESSAGES;
export type StreamCommandName = (typeof COMMAND_MESSAGES)[number];
export type Control<Name extends ControlName> = Decoded<(typeof CONTROL_MESSAGES)[Name]>;

export const CLIENT_MESSAGES: readonly (ControlName | StreamCommandName)[] = [
  ...(Object.keys(CONTROL_MESSAGES) as ControlName[]),
  ...COMMAND_MESSAGES,
];

export function isCommand(type: string): type is StreamCommandName {
  return COMMAND_MESSAGES.some((name) => name === type);
}

export function isControl(type: string): type is ControlName {
  return Object.hasOwn(CONTROL_MESSAGES, type);
}

const cmdId = text({ minLength: 1, maxLength: 64, printable: true });

/** Undefined for a frame that is no message, so that there is nothing to reply to. */
export function readMessage(frame: string): ClientMessage | undefined {
  const strict = parseStrictText(frame);
  const value: unknown = strict.ok ? strict.value : lenient(frame);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { type, cmd_id: givenId, ...fields } = value as Record<string, unknown>;
  const id = cmdId.decode(givenId);
  if (id === MISMATCH) return undefined;
  const name = typeof type === 'string' ? type : '';
  return { type: name, cmdId: id, fields: strict.ok ? (fields as JsonObject) : undefined };
}

/** Only finds the id of a message that will be refused. */
function lenient(frame: string): unknown {
  try {
    return JSON.parse(frame) as unknown;
  } catch {
    return undefined;
  }
}
