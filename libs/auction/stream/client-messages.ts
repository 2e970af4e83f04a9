import { MISMATCH, object, type Decoded, type Decoder, type JsonSchema } from '#libs/edge/decoding/decode.js';
import { atoms, enumOf, text } from '#libs/edge/decoding/decode-scalars.js';
import { parseStrictText, type JsonObject } from '#libs/edge/decoding/strict-json.js';

/** What every client message carries: what it is, and what its reply will be called. */
export interface ClientMessage {
  readonly type: string;
  readonly cmdId: string;
  /** Undefined where the message is JSON, but not JSON as strict as ours. */
  readonly fields: JsonObject | undefined;
}

/** No more subscriptions than these are looked for in `seen`. */
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

/** The messages that concern the connection itself, without `type` and `cmd_id`. */
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

/** The commands; their fields are those of the endpoint of the same name, the ids of its path among them. */
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

/** Undefined for what is no message at all, so that there is nobody to answer. */
export function readMessage(frame: string): ClientMessage | undefined {
  const strict = parseStrictText(frame);
  const value: unknown = strict.ok ? strict.value : lenient(frame);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { type, cmd_id: given, ...fields } = value as Record<string, unknown>;
  const id = cmdId.decode(given);
  if (id === MISMATCH) return undefined;
  const name = typeof type === 'string' ? type : '';
  return { type: name, cmdId: id, fields: strict.ok ? (fields as JsonObject) : undefined };
}

/** Only to find the name of a message that will be refused. */
function lenient(frame: string): unknown {
  try {
    return JSON.parse(frame) as unknown;
  } catch {
    return undefined;
  }
}
