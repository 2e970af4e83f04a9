import { UsageFault, type ParsedCall } from '#libs/platform/terminal/commands.js';
import { repeatable } from '#libs/platform/terminal/parse-call.js';
import type { OptionName } from './options.js';

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
  if (shard === undefined) throw new UsageFault('which shard? Give its number, such as 0');
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

/** The reason as a field of a body, where one was given. */
export function reasonOf(call: ParsedCall): { readonly reason?: string } {
  const reason = textOf(call, 'reason');
  return reason === undefined ? {} : { reason };
}

export function integerOf(call: ParsedCall, name: OptionName, min: number, max: number): number | undefined {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max) throw new UsageFault(`--${name} is a whole number from ${min} to ${max}`);
  return value;
}

export function millisOf(call: ParsedCall, name: 'every' | 'timeout'): number | undefined {
  const seconds = integerOf(call, name, 1, MAX_SECONDS);
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Words as the gateway spells them, however they were typed. */
export function wordIn<W extends string>(given: string, words: readonly W[], name: OptionName): W {
  const found = words.find((word) => word === given.trim().toUpperCase());
  if (found === undefined) {
    throw new UsageFault(`--${name} knows ${words.join(', ').toLowerCase()}, and not ${quoted(given)}`);
  }
  return found;
}

function quoted(text: string): string {
  return JSON.stringify(repeatable(text));
}
