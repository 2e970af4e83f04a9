import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, jest } from '@jest/globals';
import { EXECUTION } from '#apps/cli/execution/commands.js';
import { sharedTradingCluster } from '#libs/testing/cluster/shared-cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { namesOf, OrdersFloor } from './orders-floor.js';

jest.setTimeout(60_000);

let floor: OrdersFloor;
const carriedOut = new Set<string>();

beforeAll(async () => {
  floor = new OrdersFloor(await sharedTradingCluster());
}, 120_000);

/** The terminal, as `npm run sotto -- execution` starts it. */
function run(command: string, args: readonly string[], email = 'operator-1@demo.sotto'): Promise<ToolRun> {
  return runTool('apps/cli/main.js execution', [...command.split(' '), ...args], {
    DATA_DIR: floor.cluster.dataDir,
    OPS_EMAIL: email,
    OPS_PASSWORD: floor.cluster.file.demo.password,
  });
}

/** Its output on success. */
async function says(command: string, ...args: readonly string[]): Promise<string> {
  const { code, output, errors } = await run(command, args);
  expect([command, code, errors]).toEqual([command, 0, '']);
  carriedOut.add(command);
  return output;
}

async function tells(command: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await says(command, ...args, '--output', 'json')) as Record<string, unknown>;
}

it('sets a switch for one user, lists it, and takes it back', async () => {
  const user = randomUUID();
  const place = ['--venue', 'venue_b', '--side', 'buy', '--kind', 'limit', '--tif', 'GTC', '--user', user];
  const set = await tells('switch set', ...place, '--mode', 'cancel_only', '--reason', 'a drill');
  const named = { exchangeId: 'venue_b', side: 'buy', kind: 'limit', timeInForce: 'GTC', userId: user };
  expect(set).toMatchObject({ ...named, mode: 'cancel_only', reason: 'a drill' });
  expect(await tells('switches')).toMatchObject({
    switches: expect.arrayContaining([expect.objectContaining({ ...named, mode: 'cancel_only' })]),
  });
  await says('switch set', ...place, '--mode', 'on', '--reason', 'it is over');
  expect(await says('switches')).not.toContain(user);
});

it('closes a breaker, and lets keys trade at a venue', async () => {
  const place = ['--side', 'sell', '--kind', 'market', '--tif', 'FOK'];
  expect(await tells('breaker reset', '--venue', 'venue_e', ...place, '--reason', 'it is back')).toEqual({
    ...{ exchangeId: 'venue_e', side: 'sell', kind: 'market', timeInForce: 'FOK', reason: 'it is back' },
  });
  expect(await says('access set', '--venue', 'venue_e', '--enabled', 'true', '--reason', 'as ever')).toBe(
    'exchangeId  venue_e\nenabled  true\nreason  as ever\n',
  );
});

it('gives a user a key that works at once, and ends it', async () => {
  const { userId } = floor.trader('trader-4');
  const terms = ['--user', userId, '--name', 'by hand', '--scopes', 'position:read, trade:read'];
  const granted = await tells('key grant', ...terms, '--per-minute', '60', '--reason', 'asked by phone');
  expect(granted.scopes).toEqual(['position:read', 'trade:read']);
  const headers = {
    'x-client-id': String(granted.clientId),
    'x-api-key': String(granted.apiKey),
    'x-api-secret': String(granted.apiSecret),
  };
  const asked = async (): Promise<number> => (await fetch(`${floor.url}/account/scopes`, { headers })).status;
  expect(await asked()).toBe(200);
  await says('key revoke', '--key', String(granted.clientId), '--reason', 'it was a drill');
  expect(await asked()).toBe(401);
});

it('asks the venue about an order of any user', async () => {
  const trader = floor.trader('trader-4');
  const market = await floor.market('venue_b');
  const order = await trader.place(
    { ...namesOf('venue_b', market, 0), side: 'buy', kind: 'limit', quantity: 20, price: 0.4 },
    'open',
  );
  const asked = ['--order', order.order_id, '--reason', 'its owner has called'];
  // Its owner is in a projection.
  const told = await eventually(() => tells('order reconcile', ...asked));
  expect(told).toMatchObject({ order_id: order.order_id, status: 'open' });
  await trader.send('POST', `/orders/${order.order_id}/cancel`, {});
});

it("reports differences, reserves, and the signer's state", async () => {
  const { userId } = floor.trader('trader-4');
  const report = await tells('differences', '--user', userId, '--venue', 'venue_b');
  expect(report).toMatchObject({ differences: [], doubts: [], asOf: expect.any(String) });
  expect(await says('reserves')).toMatch(
    /^EXCHANGEID +ASSET +OWED +ISSUED +INTRANSIT +OBSERVED +DIFFERENCE\n/,
  );
  const { keys, signatures } = await tells('signer');
  expect([Number(keys) > 0, Number(signatures) > 0]).toEqual([true, true]);
});

it('says why it could not do something, and does nothing for users that are not operators', async () => {
  const unknown = await run('key revoke', ['--key', 'sotto_ck_000000000000000000000000', '--reason', 'x']);
  expect(unknown).toEqual({
    ...{ code: 1, output: '' },
    errors: 'execution: 400 VALIDATION_INVALID_PARAMETER: There is no such API key\n',
  });
  const trader = await run('signer', [], 'trader-4@demo.sotto');
  expect(trader).toEqual({ code: 1, output: '', errors: 'execution: 403 This call is for operators\n' });
});

it('has no command without a test here', () => {
  expect([...carriedOut].sort()).toEqual(EXECUTION.commands.map(({ name }) => name).sort());
});
