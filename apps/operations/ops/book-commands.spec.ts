import { expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { actions } from './book-commands.js';
import { GatewayClient } from './gateway-client.js';
import { Report } from './report.js';
import type { ActionEntry } from '#libs/client/operator-wire.js';

const ENTRY: ActionEntry = {
  at: '2026-11-25T12:00:00.000Z',
  by: '00000000-0000-8000-a000-000000000000',
  display_name: 'Operator',
  action: 'IMPOSE_HALT',
  target: 'venue_a',
  outcome: 'DONE',
  reason: 'drill',
};

class Book extends GatewayClient {
  constructor(private readonly entries: readonly unknown[]) {
    super({
      url: 'http://127.0.0.1:1',
      stop: new AbortController().signal,
      credentials: () => Promise.resolve({ token: 'none', mine: false }),
    });
  }

  override call<T>(): Promise<T> {
    return Promise.resolve(JSON.parse(JSON.stringify({ actions: this.entries })) as T);
  }
}

async function listOf(entries: readonly unknown[]): Promise<string[]> {
  const out: string[] = [];
  const report = new Report(
    (text) => out.push(text),
    () => undefined,
    false,
    false,
  );
  const clock = new SystemClock();
  const stop = new AbortController().signal;
  const code = await actions.run(
    { operands: [], options: {} },
    { gateway: new Book(entries), report, clock, stop },
  );
  expect(code).toBe(0);
  return out.join('\n').split('\n');
}

it.each([{}, [], 'x', 7, null, { scope: 1, what: ['QUOTE'] }, { scope: 'GLOBAL', what: [['QUOTE']] }])(
  'a halt that is none, %j, is shown as it is, and the list goes on',
  async (halt) => {
    const lines = await listOf([{ ...ENTRY, halt }, ENTRY]);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(`${JSON.stringify(halt)}: drill`);
  },
);

it('a halt is told in words', async () => {
  const lines = await listOf([{ ...ENTRY, halt: { scope: 'VENUE', target: 'venue_a', what: ['QUOTE'] } }]);
  expect(lines[1]).toContain('QUOTE for venue venue_a: drill');
});

it('what somebody has written does nothing to the terminal, nor forges a line', async () => {
  const target = '1\nFAKE \u001B[1A\u001B[2K\u0007\u009B\u202E\u2028';
  const lines = await listOf([{ ...ENTRY, target }, ENTRY]);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain('1\\u{a}FAKE \\u{1b}[1A\\u{1b}[2K\\u{7}\\u{9b}\\u{202e}\\u{2028}');
  for (const line of lines) expect(line).toMatch(/^[ -~]*$/);
});
