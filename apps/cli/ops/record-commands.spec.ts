import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { actions } from './record-commands.js';
import { GivenOptions } from '#libs/platform/terminal/commands.js';
import { type OpsCommand, OpsReport } from './report.js';
import { GatewayClient } from './gateway-client.js';
import { halts } from './halt-commands.js';
import type { ActionEntry, ListedHaltJson } from '#libs/client/operator-wire.js';

const ENTRY: ActionEntry = {
  at: '2026-11-25T12:00:00.000Z',
  by: '00000000-0000-8000-a000-000000000000',
  display_name: 'Operator',
  action: 'IMPOSE_HALT',
  target: 'venue_a',
  outcome: 'DONE',
  reason: 'drill',
};

class CannedGateway extends GatewayClient {
  constructor(private readonly answer: object) {
    super({
      url: 'http://127.0.0.1:1',
      stop: new AbortController().signal,
      credentials: () => Promise.resolve({ token: 'none', mine: false }),
    });
  }

  override call<T>(): Promise<T> {
    return Promise.resolve(JSON.parse(JSON.stringify(this.answer)) as T);
  }
}

function listOf(entries: readonly unknown[]): Promise<string[]> {
  return linesOf(actions, { actions: entries });
}

async function linesOf(command: OpsCommand, answer: object): Promise<string[]> {
  const out: string[] = [];
  const report = new OpsReport(
    (text) => out.push(text),
    () => undefined,
    false,
    false,
  );
  const clock = new SystemClock();
  const stop = new AbortController().signal;
  const code = await command.run(
    { command, operands: [], options: new GivenOptions(new Map(), command.options), json: false },
    { gateway: new CannedGateway(answer), report, clock, stop },
  );
  expect(code).toBe(0);
  return out.join('\n').split('\n');
}

it.each([{}, [], 'x', 7, null, { scope: 1, what: ['QUOTE'] }, { scope: 'GLOBAL', what: [['QUOTE']] }])(
  'an invalid halt, %j, is shown as JSON, and the list goes on',
  async (halt) => {
    const lines = await listOf([{ ...ENTRY, halt }, ENTRY]);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(`${JSON.stringify(halt)}: drill`);
  },
);

it('a halt is shown in words', async () => {
  const lines = await listOf([{ ...ENTRY, halt: { scope: 'VENUE', target: 'venue_a', what: ['QUOTE'] } }]);
  expect(lines[1]).toContain('QUOTE for venue venue_a: drill');
});

it('text of users cannot control the terminal or forge a line', async () => {
  const target = '1\nFAKE \u001B[1A\u001B[2K\u0007\u009B\u202E\u2028';
  const lines = await listOf([{ ...ENTRY, target }, ENTRY]);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain('1\\u{a}FAKE \\u{1b}[1A\\u{1b}[2K\\u{7}\\u{9b}\\u{202e}\\u{2028}');
  for (const line of lines) expect(line).toMatch(/^[ -~]*$/);
});

describe('a list of halts', () => {
  const HALT: ListedHaltJson = {
    halt_id: '7f6d3c52-5e0a-4b57-9d5e-0a4d2c0b9a11',
    scope: 'VENUE',
    target: 'venue_a',
    what: ['QUOTE'],
    reason: 'drill',
    by: '00000000-0000-8000-a000-000000000000',
    display_name: 'Operator 1',
    created_at: '2026-11-25T12:00:00.000Z',
  };
  const { display_name: name, ...unnamed } = HALT;

  it('shows who imposed them as the record does: by name, or by account without one', async () => {
    const lines = await linesOf(halts, { halts: [HALT, unnamed, { ...HALT, display_name: '' }] });
    expect(lines[0]).toMatch(/ WHO +REASON$/);
    expect(lines[1]).toMatch(new RegExp(` ${name ?? ''} +drill$`));
    for (const line of lines.slice(2)) expect(line).toContain(` ${HALT.by} `);
  });
});
