import { expect, it } from '@jest/globals';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { GatewayClient } from '../ops/gateway-client.js';
import { OpsReport } from '../ops/report.js';
import { EXECUTION } from './commands.js';

/** The request that a command sends, and what it prints for this result. */
async function carriedOut(typed: readonly string[], result: object = {}): Promise<readonly unknown[]> {
  const call = parseCall(EXECUTION, typed);
  if ('help' in call) throw new Error('that asks for help');
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const sent: unknown[] = [];
  const orders = new GatewayClient({
    url: 'http://127.0.0.1:1',
    stop: new AbortController().signal,
    credentials: () => Promise.resolve({ token: 't', mine: false }),
  });
  orders.call = <T>(method: string, path: string, body?: object): Promise<T> => {
    sent.push(method, path, body);
    return Promise.resolve({ result } as T);
  };
  await call.command.run(call, { orders, report: new OpsReport(print, print, call.json, false) });
  return [...sent, printed.join('\n')];
}

it('calls the procedure with the given options only', async () => {
  const typed = ['switch', 'set', '--venue', 'venue_b', '--mode', 'halted', '--reason', 'no prices'];
  expect(await carriedOut(typed, { exchangeId: 'venue_b', mode: 'halted' })).toEqual([
    'POST',
    '/rpc/admin.switches.set',
    { input: { exchangeId: 'venue_b', mode: 'halted', reason: 'no prices' } },
    'exchangeId  venue_b\nmode  halted',
  ]);
});

it('parses lists, numbers and words', async () => {
  const access = ['access', 'set', '--venue', 'venue_e', '--enabled', 'unknown', '--reason', 'drill'];
  expect((await carriedOut(access))[2]).toMatchObject({ input: { enabled: null } });
  const grant = ['key', 'grant', '--user', 'u', '--name', 'bot', '--scopes', 'read, trade'];
  expect((await carriedOut(grant))[2]).toMatchObject({ input: { scopes: ['read', 'trade'] } });
  const limits = ['--addresses', '192.0.2.7,::1', '--per-minute', '60', '--expires', '2031-01-01T00:00:00Z'];
  expect((await carriedOut([...grant, ...limits]))[2]).toEqual({
    input: {
      ...{ userId: 'u', name: 'bot', scopes: ['read', 'trade'], ipAllowList: ['192.0.2.7', '::1'] },
      ...{ ordersPerMinute: 60, expiresAt: '2031-01-01T00:00:00Z' },
    },
  });
  await expect(carriedOut([...grant, '--per-minute', '1e3'])).rejects.toThrow('a whole number');
  await expect(carriedOut([...access.slice(0, 5), 'perhaps', ...access.slice(6)])).rejects.toThrow(
    'true, false and unknown',
  );
});

it('prints lists of words on one line, and a dash for a missing value', async () => {
  const granted = { clientId: 'k', scopes: ['read', 'trade'], funding: null, doubts: [] };
  const grant = ['key', 'grant', '--user', 'u', '--name', 'bot', '--scopes', 'read'];
  expect((await carriedOut(grant, granted))[3]).toBe(
    'clientId  k\nscopes  read, trade\nfunding  -\ndoubts:\n  none',
  );
});

it('prints rows as a table or as JSON, and refuses a missing option', async () => {
  const rows = { rows: [{ exchangeId: 'venue_b', owed: '10.00', observed: '10.00' }], asOf: 'now' };
  expect((await carriedOut(['reserves'], rows))[3]).toBe(
    'EXCHANGEID  OWED   OBSERVED\nvenue_b     10.00  10.00',
  );
  expect(JSON.parse(String((await carriedOut(['reserves', '--output', 'json'], rows))[3]))).toEqual(rows);
  await expect(carriedOut(['order', 'reconcile', '--order', 'x'])).rejects.toThrow('--reason is missing');
});
