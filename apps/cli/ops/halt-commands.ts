import { idOf, optionsOf, requiredText, textOf, wordIn } from './arguments.js';
import type { OpsCommand, OpsPorts } from './report.js';
import { type ParsedCall, UsageFault } from '#libs/platform/terminal/commands.js';
import { shortTime, table } from './table.js';
import type { HaltJson, ListedHaltJson, Who } from '#libs/client/operator-wire.js';

const SCOPES = ['GLOBAL', 'VENUE', 'MARKET', 'PRINCIPAL'] as const;
const HALTABLE = ['CREATE', 'QUOTE'] as const;

export const halts: OpsCommand = {
  name: 'halts',
  operands: [],
  options: optionsOf(),
  summary: 'list active halts',
  explanation: ['Oldest first. `actions` shows lifted halts too.'],
  examples: ['halts', 'halts --output json'],
  async run(_call, { gateway, report }) {
    const page = await gateway.get<{ halts: readonly ListedHaltJson[] }>('/v1/ops/halts');
    report.result(page, () => (page.halts.length === 0 ? ['nothing is halted'] : haltTable(page.halts)));
    return 0;
  },
};

export const haltImpose: OpsCommand = {
  name: 'halt impose',
  operands: [],
  options: optionsOf('scope', 'target', 'what', 'reason'),
  summary: 'impose a halt: refuse creates or quotes',
  explanation: [
    'When the command returns, every owner that can be reached applies the halt. It voids nothing: standing quotes stay, and',
    'withdrawing and cancelling still work. Callers get SERVICE_HALTED (global), VENUE_HALTED, MARKET_NOT_TRADABLE or PRINCIPAL_SUSPENDED.',
    'A market is a contract id, at any venue that lists it. Repeating the same halt with the same reason changes nothing.',
  ],
  examples: [
    'halt impose --scope venue --target venue_a --reason "no prices since 12:00"',
    'halt impose --scope principal --target 00000000-0000-8000-a000-000000000000 --what quote --reason "risk desk"',
    'halt impose --scope global --reason "drill"',
  ],
  run: impose,
};

export const haltLift: OpsCommand = {
  name: 'halt lift',
  operands: [{ name: 'halt-id' }],
  options: optionsOf(),
  summary: 'lift a halt',
  explanation: ['`halts` shows the ids. Where two halts overlap, both must be lifted.'],
  examples: ['halt lift 7f6d3c52-5e0a-4b57-9d5e-0a4d2c0b9a11'],
  async run(call, { gateway, report }) {
    const id = idOf(call, 'a halt');
    await gateway.call('DELETE', `/v1/ops/halts/${id}`);
    report.result({ halt_id: id, lifted: true }, () => [`halt ${id} is lifted`]);
    return 0;
  },
};

async function impose(call: ParsedCall, { gateway, report }: OpsPorts): Promise<number> {
  const scope = wordIn(requiredText(call, 'scope'), SCOPES, 'scope');
  const target = textOf(call, 'target');
  if ((scope === 'GLOBAL') !== (target === undefined)) {
    throw new UsageFault(scope === 'GLOBAL' ? '--scope global has no --target' : '--target is missing');
  }
  const words = (textOf(call, 'what') ?? HALTABLE.join(',')).split(',');
  const what = [...new Set(words.map((word) => wordIn(word, HALTABLE, 'what')))];
  const body = {
    scope,
    what,
    reason: requiredText(call, 'reason'),
    ...(target === undefined ? {} : { target }),
  };
  const halt = await gateway.call<HaltJson>('POST', '/v1/ops/halts', body);
  report.result(halt, () => [`halt ${halt.halt_id} is active: no ${whatOf(halt)} for ${whomOf(halt)}`]);
  return 0;
}

function haltTable(rows: readonly ListedHaltJson[]): string[] {
  return table(
    [
      { head: 'HALT', cell: ({ halt_id: id }) => id },
      { head: 'SCOPE', cell: ({ scope }) => scope },
      { head: 'TARGET', cell: ({ target }) => target },
      { head: 'WHAT', cell: ({ what }) => what.join(',') },
      { head: 'SINCE', cell: ({ created_at: since }) => shortTime(since) },
      { head: 'WHO', cell: nameOf },
      { head: 'REASON', cell: ({ reason }) => reason },
    ],
    rows,
  );
}

function whatOf({ what }: HaltJson): string {
  return what.map((word) => `${word.toLowerCase()}s`).join(' and ');
}

/** The display name, for people. The account id is in `--output json`. */
export function nameOf({ by, display_name: name }: Who): string {
  return name === undefined || name === '' ? by : name;
}

export function whomOf({ scope, target }: Pick<HaltJson, 'scope' | 'target'>): string {
  return target === undefined ? 'everyone' : `${scope.toLowerCase()} ${target}`;
}
