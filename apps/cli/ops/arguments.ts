import {
  type OptionDeclaration,
  type OptionTable,
  OUTPUT_OPTION,
  type ParsedCall,
  UsageFault,
} from '#libs/platform/terminal/commands.js';
import { repeatable } from '#libs/platform/terminal/parse-call.js';
import { StartFault } from '#libs/platform/process/start-fault.js';

export type OptionName = keyof typeof OPTIONS;

/** An option means the same in all commands that have it. */
const OPTIONS = {
  watch: { type: 'boolean', text: 'refresh until Ctrl-C' },
  every: { type: 'string', value: 'seconds', text: 'interval of --watch; default 2' },
  reason: { type: 'string', value: 'text', text: 'why, up to 200 characters; it is kept with your name' },
  wait: { type: 'boolean', text: 'wait until the shard has no live auctions' },
  timeout: { type: 'string', value: 'seconds', text: 'the longest time to --wait; default: no limit' },
  scope: { type: 'string', value: 'scope', text: 'global, venue, market or principal' },
  target: { type: 'string', value: 'id', text: 'the venue, contract id or account id; not with global' },
  what: { type: 'string', value: 'list', text: 'create, quote or both; default create,quote' },
  limit: { type: 'string', value: 'n', text: 'number of entries, 1 to 50; default 20' },
  cursor: { type: 'string', value: 'text', text: 'the cursor of the previous page' },
} as const satisfies OptionTable;

/** Options of every command. */
const COMMON_OPTIONS = {
  ...OUTPUT_OPTION,
  url: { type: 'string', value: 'url', text: 'the gateway, instead of OPS_URL or the cluster in DATA_DIR' },
} as const satisfies OptionTable;

/** The options of one command, with the common ones. */
export function optionsOf(...names: readonly OptionName[]): OptionTable {
  const own = names.map((name): [string, OptionDeclaration] => [name, OPTIONS[name]]);
  return { ...Object.fromEntries(own), ...COMMON_OPTIONS };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_SECONDS = 1_000_000;

export function shardOf(call: ParsedCall): number | undefined {
  const [given] = call.operands;
  if (given === undefined) return undefined;
  if (!/^\d{1,3}$/.test(given)) throw new UsageFault(`a shard is a number such as 0, not ${quoted(given)}`);
  return Number(given);
}

export function requiredShard(call: ParsedCall): number {
  const shard = shardOf(call);
  if (shard === undefined) throw new UsageFault('the shard is missing: give its number, such as 0');
  return shard;
}

export function idOf(call: ParsedCall, what: string): string {
  const [id = ''] = call.operands;
  if (!UUID.test(id))
    throw new UsageFault(`${quoted(id)} is not the id of ${what}: ids are lower-case UUIDs`);
  return id;
}

export function textOf({ options }: ParsedCall, name: OptionName): string | undefined {
  return options.text(name);
}

export function requiredText(call: ParsedCall, name: OptionName): string {
  const value = textOf(call, name);
  if (value === undefined || value === '') throw new UsageFault(`--${name} is missing`);
  return value;
}

/** The reason as a field of the body, if it was given. */
export function reasonOf(call: ParsedCall): { readonly reason?: string } {
  const reason = textOf(call, 'reason');
  return reason === undefined ? {} : { reason };
}

export function integerOf(call: ParsedCall, name: OptionName, min: number, max: number): number | undefined {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max)
    throw new UsageFault(`--${name} must be a whole number from ${min} to ${max}`);
  return value;
}

export function millisOf(call: ParsedCall, name: 'every' | 'timeout'): number | undefined {
  const seconds = integerOf(call, name, 1, MAX_SECONDS);
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Accepts any case, and returns the spelling of the gateway. */
export function wordIn<W extends string>(given: string, words: readonly W[], name: OptionName): W {
  const found = words.find((word) => word === given.trim().toUpperCase());
  if (found === undefined) {
    throw new UsageFault(`--${name} must be one of ${words.join(', ').toLowerCase()}, not ${quoted(given)}`);
  }
  return found;
}

function quoted(text: string): string {
  return JSON.stringify(repeatable(text));
}

export const EXIT_REFUSED = 1;
export const EXIT_INTERRUPTED = 130;

/** Why a command failed: one line for people, and the gateway's status and code for programs. */
export class CommandFault extends StartFault {
  constructor(
    message: string,
    exitCode: number,
    readonly told: { readonly status?: number; readonly error?: string } = {},
  ) {
    super(message, exitCode);
  }
}
