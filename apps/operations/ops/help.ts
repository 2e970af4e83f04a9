import type { Command } from './command.js';
import { COMMON_OPTIONS, OPTIONS, type OptionSpec } from './options.js';

const CALL = 'npm run --silent ops --';

/** All commands, each in a line. */
export function overview(commands: readonly Command[]): string {
  return [
    `Usage: ${CALL} <command> [options]`,
    '',
    ...aligned(commands.map((command) => [synopsis(command), command.summary])),
    '',
    ...optionLines(Object.entries(COMMON_OPTIONS)),
    '',
    'The gateway is that of --url, else of OPS_URL, else of the cluster that runs on DATA_DIR (.data). Who you are comes from OPS_TOKEN, or',
    'OPS_EMAIL and OPS_PASSWORD, or is asked for on the terminal; it is never an argument. The account needs the role OPERATOR.',
    '',
    'Exit codes: 0 done, 1 refused, 64 not called properly, 69 the gateway or what it needs cannot be reached, 78 a wrong setting.',
    `\`${CALL} <command> --help\` explains a command. --silent keeps npm's own lines out of the output.`,
  ].join('\n');
}

/** One command, with examples. */
export function helpWith(command: Command): string {
  const own = command.options.map((name): [string, OptionSpec] => [name, OPTIONS[name]]);
  return [
    `Usage: ${CALL} ${synopsis(command)}${own.length === 0 ? '' : ' [options]'}`,
    '',
    ...command.explanation,
    '',
    ...optionLines([...own, ...Object.entries(COMMON_OPTIONS)]),
    '',
    command.examples.length === 1 ? 'Example:' : 'Examples:',
    ...command.examples.map((example) => `  ${CALL} ${example}`),
  ].join('\n');
}

function synopsis({ name, operands }: Command): string {
  const shown = operands.map((operand) => (operand.optional ? `[${operand.name}]` : `<${operand.name}>`));
  return [name, ...shown].join(' ');
}

function optionLines(options: readonly (readonly [string, OptionSpec])[]): string[] {
  return aligned(
    options.map(([name, { value, describe }]) => [
      value === undefined ? `--${name}` : `--${name} ${value}`,
      describe,
    ]),
  );
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
