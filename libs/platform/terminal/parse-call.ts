import { parseArgs, type ParseArgsConfig } from 'node:util';
import { isCodedError } from '../process/start-fault.js';
import {
  GivenOptions,
  UsageFault,
  type CommandArea,
  type CommandDeclaration,
  type OptionValue,
  type ParsedCall,
} from './commands.js';
import { helpWith, overview } from './help.js';

const HELP = { type: 'boolean', short: 'h' } as const;

/** Parses a command line. Options may be anywhere. Unknown input is a fault and never ignored. */
export function parseCall<C extends CommandDeclaration>(
  area: CommandArea<C>,
  args: readonly string[],
  call = `npm run --silent sotto -- ${area.name}`,
): ParsedCall<C> | { readonly help: string } {
  const { values, positionals } = parseArguments(area, args);
  const command = area.commands.find((each) => wordsOf(each).every((word, at) => positionals[at] === word));
  if (values.get('help') === true) {
    return {
      help:
        command === undefined
          ? overview({ ...area, commands: familyOf(area, positionals) }, call)
          : helpWith(command, area, call),
    };
  }
  if (command === undefined) throw new UsageFault(unknown(area, positionals));
  const operands = positionals.slice(wordsOf(command).length);
  checkOperands(command, operands, area.name);
  for (const name of values.keys()) {
    if (!Object.hasOwn(command.options, name))
      throw new UsageFault(`${command.name || area.name} has no --${name}`, command.name);
  }
  const output = values.get('output');
  if (output !== undefined && output !== 'json')
    throw new UsageFault('the only other output is json', command.name);
  return {
    command,
    operands,
    options: new GivenOptions(values, command.options),
    json: output === 'json',
  };
}

function wordsOf({ name }: CommandDeclaration): readonly string[] {
  return name === '' ? [] : name.split(' ');
}

interface ParsedArguments {
  readonly values: ReadonlyMap<string, OptionValue>;
  readonly positionals: readonly string[];
}

function parseArguments({ commands }: CommandArea, args: readonly string[]): ParsedArguments {
  const declared = commands.flatMap(({ options }) => Object.entries(options));
  const known = declared.map(([name, { type, multiple = false }]) => [name, { type, multiple }] as const);
  try {
    const { values, positionals } = parseCommandLine({
      args: [...args],
      allowPositionals: true,
      options: { ...Object.fromEntries(known), help: HELP },
    });
    return { values: new Map(Object.entries(values)), positionals };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    // Only the first sentence: after it Node gives advice on positional arguments that does not apply here.
    throw new UsageFault(error.message.split('. ', 1).join());
  }
}

/** Says which commands exist, such as `halts` for the input `halt list`. */
function unknown(area: CommandArea, positionals: readonly string[]): string {
  const names = area.commands.map(({ name }) => name);
  if (names.every((name) => !name.includes(' '))) return `expected one of ${names.join(', ')}`;
  if (positionals.length === 0) return 'no command';
  const message = `there is no command ${positionals.map(repeatable).join(' ')}`;
  const family = familyOf(area, positionals);
  if (family === area.commands) return message;
  return `${message}, but ${family.map(({ name }) => name).join(', ')}`;
}

/** The commands that begin with the same word, in the singular or plural. If there are none, all commands. */
function familyOf<C extends CommandDeclaration>(
  { commands }: CommandArea<C>,
  [word = '']: readonly string[],
): readonly C[] {
  const family = commands.filter(({ name }) => [word, `${word}s`].includes(name.split(' ')[0] ?? ''));
  return family.length === 0 ? commands : family;
}

function checkOperands(command: CommandDeclaration, operands: readonly string[], area: string): void {
  const name = command.name || area;
  const missing = command.operands.find(
    ({ optional }, at) => optional !== true && operands[at] === undefined,
  );
  if (missing !== undefined) throw new UsageFault(`${name}: the ${missing.name} is missing`, command.name);
  const extra = operands[command.operands.length];
  if (extra !== undefined)
    throw new UsageFault(`${name}: what is ${JSON.stringify(repeatable(extra))}?`, command.name);
}

/** Hides a URL, which may contain a password. URLs belong after --url. */
export function repeatable(word: string): string {
  return word.includes('://') ? 'URL without --url' : word;
}

/** An option was given twice. Node would silently use the last value. */
class RepeatedOption extends Error {
  override readonly name = 'RepeatedOption';
  readonly code = 'REPEATED_OPTION';

  constructor(option: string) {
    super(`--${option} is given twice`);
  }
}

/** Like `parseArgs`, but refuses an option that is given twice and may not be repeated. */
function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const parsed = parseArgs<T>(config);
  const { tokens = [] } = parseArgs({ ...config, tokens: true });
  const names = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option' || config.options?.[token.name]?.multiple === true) continue;
    if (names.has(token.name)) throw new RepeatedOption(token.name);
    names.add(token.name);
  }
  return parsed;
}
