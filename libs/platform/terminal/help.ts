import type { CommandArea, CommandDeclaration, OptionTable } from './commands.js';

const HELP_LINE: readonly [string, string] = ['--help', 'this text'];

/** Help for an area: all commands, one line each. */
export function overview({ commands, notes }: CommandArea, call: string): string {
  const [only] = commands;
  if (commands.length === 1 && only?.name === '') return helpWith(only, { notes }, call);
  return [
    `Usage: ${call} <command> [options]`,
    '',
    ...alignedRows(commands.map((command) => [synopsis(command), command.summary])),
    '',
    ...notes,
    '',
    `\`${call} <command> --help\` explains a command.`,
  ].join('\n');
}

/** Help for one command, with its options and examples. */
export function helpWith(
  command: CommandDeclaration,
  { notes }: Pick<CommandArea, 'notes'>,
  call: string,
): string {
  const { explanation = [], examples = [] } = command;
  const head = [call, synopsis(command), '[options]'].filter((part) => part !== '').join(' ');
  return [
    `Usage: ${head}`,
    '',
    ...(command.name === '' ? [] : [command.summary]),
    ...explanation,
    '',
    ...alignedRows([...optionRows(command.options), HELP_LINE]),
    ...(examples.length === 0 ? notes.flatMap((note, at) => (at === 0 ? ['', note] : [note])) : []),
    ...(examples.length === 0 ? [] : ['', examples.length === 1 ? 'Example:' : 'Examples:']),
    ...examples.map((example) => `  ${call} ${example}`),
  ].join('\n');
}

function synopsis({ name, operands }: CommandDeclaration): string {
  const placeholders = operands.map((operand) =>
    operand.optional ? `[${operand.name}]` : `<${operand.name}>`,
  );
  return [name, ...placeholders].join(' ');
}

function optionRows(options: OptionTable): (readonly [string, string])[] {
  return Object.entries(options).map(([name, { value, text, multiple, default: fallback }]) => [
    value === undefined ? `--${name}` : `--${name} ${value}`,
    [
      text,
      ...(multiple === true ? ['repeat it for several'] : []),
      ...(fallback === undefined ? [] : [`${fallback} unless given`]),
    ].join('; '),
  ]);
}

/** Formats rows as two indented columns. */
export function alignedRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
