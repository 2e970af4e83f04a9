import { parseCommandLine } from '#libs/platform/terminal/command-line.js';
import { isCodedError } from '#libs/platform/process/start-fault.js';
import { repeatable } from './arguments.js';
import { actions, auctionVoid, limits } from './book-commands.js';
import type { Call, Command } from './command.js';
import { UsageFault } from './faults.js';
import { haltImpose, haltLift, halts } from './halt-commands.js';
import { helpWith, overview } from './help.js';
import { COMMON_OPTIONS, isOptionName, OPTIONS } from './options.js';
import { shardDrain, shardResume, shards } from './shard-commands.js';

const COMMANDS: readonly Command[] = [
  shards,
  shardDrain,
  shardResume,
  halts,
  haltImpose,
  haltLift,
  auctionVoid,
  actions,
  limits,
];

export type Parsed =
  | { readonly help: string }
  | { readonly command: Command; readonly call: Call; readonly json: boolean; readonly url?: string };

type Typed = Readonly<Record<string, string | boolean | undefined>>;

/** Options may stand anywhere; what is typed and means nothing is a fault, never ignored. */
export function parseCall(args: readonly string[]): Parsed {
  const { values, positionals } = typed(args);
  const command = commandIn(positionals);
  if (values.help === true)
    return { help: command === undefined ? overview(familyOf(positionals)) : helpWith(command) };
  if (command === undefined) throw new UsageFault(unknown(positionals));
  const operands = positionals.slice(command.name.split(' ').length);
  checkOperands(command, operands);
  const { output, url } = values;
  if (output !== undefined && output !== 'json')
    throw new UsageFault('the only other output is json', command.name);
  const call = { operands, options: optionsOf(command, values) };
  return { command, call, json: output === 'json', ...(typeof url === 'string' ? { url } : {}) };
}

function typed(args: readonly string[]): { readonly values: Typed; readonly positionals: readonly string[] } {
  try {
    return parseCommandLine({
      args: [...args],
      allowPositionals: true,
      options: { ...OPTIONS, ...COMMON_OPTIONS },
    });
  } catch (error) {
    if (!isCodedError(error)) throw error;
    // Behind the first sentence stands advice on positional arguments, which helps nobody here.
    throw new UsageFault(error.message.split('. ', 1).join());
  }
}

function commandIn(positionals: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name.split(' ').every((word, at) => positionals[at] === word));
}

/** Names what there is instead, such as `halts` to anyone who types `halt list`. */
function unknown(positionals: readonly string[]): string {
  if (positionals.length === 0) return 'no command';
  const said = `there is no command ${positionals.map(repeatable).join(' ')}`;
  const family = familyOf(positionals);
  if (family === COMMANDS) return said;
  return `${said}, but ${family.map(({ name }) => name).join(', ')}`;
}

/** Commands that begin with the same word, in the singular or the plural, or all of them. */
function familyOf([word = '']: readonly string[]): readonly Command[] {
  const family = COMMANDS.filter(({ name }) => singular(name.split(' ', 1).join()) === singular(word));
  return family.length === 0 ? COMMANDS : family;
}

function singular(word: string): string {
  return word.replace(/s$/, '');
}

function checkOperands(command: Command, operands: readonly string[]): void {
  const missing = command.operands.find(
    ({ optional }, at) => optional !== true && operands[at] === undefined,
  );
  if (missing !== undefined)
    throw new UsageFault(`${command.name}: the ${missing.name} is missing`, command.name);
  const extra = operands[command.operands.length];
  if (extra !== undefined)
    throw new UsageFault(`${command.name}: what is ${JSON.stringify(repeatable(extra))}?`, command.name);
}

function optionsOf(command: Command, values: Typed): Call['options'] {
  const given = Object.entries(values).filter(([name, value]) => isOptionName(name) && value !== undefined);
  for (const [name] of given) {
    if (command.options.some((known) => known === name)) continue;
    throw new UsageFault(`${command.name} has no --${name}`, command.name);
  }
  return Object.fromEntries(given);
}
