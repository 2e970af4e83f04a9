import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { OrdersFloor } from './orders-floor.js';

type Json = Readonly<Record<string, unknown>>;

interface Told {
  readonly status: number;
  readonly result: Json;
  readonly code: unknown;
}

let cluster: OwnedCluster;
let floor: OrdersFloor;

/** A logged-in user that calls by RPC. */
class Session {
  private constructor(private readonly token: string) {}

  static async of(name: string): Promise<Session> {
    const { gateway_url, demo } = floor.cluster.file;
    const email = demo.users.find((user) => user.email.startsWith(`${name}@`))?.email ?? '';
    return new Session(await new ApiClient(gateway_url).tokenOf(email, demo.password));
  }

  async call(procedure: string, input: Json = {}): Promise<Told> {
    const response = await fetch(`${floor.url}/rpc/${procedure}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input }),
    });
    const body = (await response.json()) as { result?: Json; error_details?: { code: string } };
    return { status: response.status, result: body.result ?? {}, code: body.error_details?.code };
  }

  async transfer(input: Json): Promise<Json> {
    const told = await this.call('funds.transfer', input);
    if (told.status !== 200) throw new Error(JSON.stringify(told));
    return told.result;
  }

  completed({ transferId }: Json): Promise<Json> {
    return eventually(async () => {
      const { result } = await this.call('funds.transfers', { transferId });
      const [transfer] = result.transfers as readonly Json[];
      if (transfer?.status !== 'COMPLETED') throw new Error(JSON.stringify(transfer));
      return transfer;
    }, 30_000);
  }

  /** The free money at a venue: in the vault, and in the trading account. */
  async free(exchangeId: string): Promise<{ vault: number; trading: number }> {
    const [vault, trading] = await Promise.all(
      ['balances.getVaultBalances', 'balances.getAllBalances'].map(async (name) => {
        const { status, result } = await this.call(name);
        expect([status, result.degraded]).toEqual([200, false]);
        const rows = result.balances as readonly Json[];
        const row = rows.find((one) => one.exchangeId === exchangeId && MONEY.has(one.asset));
        return Number(row?.value ?? 0);
      }),
    );
    return { vault: vault ?? 0, trading: trading ?? 0 };
  }

  /** Free tokens: in the vault under the auctions' name, in the account under the venue's. */
  async tokens(inVault: string, token_id: string): Promise<{ vault: number; trading: number }> {
    const { result } = await this.call('balances.getVaultBalances');
    const kept = (result.balances as readonly Json[]).find(({ asset }) => asset === inVault);
    const { body } = await floor.trader('originator-1').send('GET', '/positions/exposure');
    const held = (body.positions as readonly Json[]).find((one) => one.token_id === token_id);
    return {
      vault: Number(kept?.value ?? 0) - Number(kept?.held ?? 0),
      trading: Number(held?.available_to_sell ?? 0),
    };
  }

  /** Links the venue, with the user's own account if credentials are given. */
  async link(exchangeId: string, credentials?: Json): Promise<void> {
    const { status } =
      exchangeId === 'venue_b'
        ? await this.ask('/exchanges/venue_b/enable-trading', {
            ...{ terms_version: '2026-11', attestations: { residency: true, age: true, terms: true } },
            ...(credentials === undefined ? {} : { credentials }),
          })
        : await this.ask('/rpc/venues.link', { input: { exchangeId } });
    expect(status).toBe(200);
  }

  private ask(path: string, body: Json): Promise<Response> {
    return fetch(`${floor.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
}

const MONEY: ReadonlySet<unknown> = new Set(['USD', 'USDC']);
let owner: Session;
let brings: Session;
let admin: Session;

beforeAll(async () => {
  // A cluster of its own: processes are killed here.
  cluster = await startCluster({ env: { SERVICES: 'execution', PRACTICE_STILL: '1', LIMITS_FACTOR: '50' } });
  floor = new OrdersFloor(cluster);
  [owner, brings, admin] = await Promise.all([
    Session.of('originator-1'),
    Session.of('maker-1'),
    Session.of('operator-1'),
  ]);
}, 120_000);
afterAll(() => cluster.stop(), 60_000);

async function nothingIsMissing(): Promise<void> {
  await eventually(async () => {
    const { status, result } = await admin.call('admin.reserves.report');
    expect(status).toBe(200);
    const rows = result.rows as readonly Json[];
    expect(rows.filter(({ asset }) => MONEY.has(asset))).toHaveLength(2);
    expect(rows.filter(({ difference }) => difference !== '0')).toEqual([]);
  }, 15_000);
}

/** Kills all processes of one kind at once. */
async function killed(kind: string): Promise<void> {
  const { processes } = floor.cluster.file;
  const names = processes.filter((one) => one.kind === kind).map(({ name }) => name);
  const gone = names.map((name) => [name, floor.cluster.kill(name)] as const);
  await Promise.all(gone.map(([name, pid]) => floor.cluster.restartOf(name, pid)));
}

const PLACES = [
  ['venue_b', 'USD', 'kalshi_usd'],
  ['venue_e', 'USDC', 'chain'],
] as const;

describe.each(PLACES)('money between the vault and %s', (exchangeId, asset, domain) => {
  const out = { exchangeId, asset, from: 'vault', to: domain };
  const back = { exchangeId, asset, from: domain, to: 'vault' };

  beforeAll(() => owner.link(exchangeId));

  it('moves out and back, once for each id, and is booked', async () => {
    await nothingIsMissing();
    const before = await eventually(() => owner.free(exchangeId));
    const wanted = { ...out, amount: '25.00', clientRequestId: randomUUID() };
    const [one, other] = await Promise.all([owner.transfer(wanted), owner.transfer(wanted)]);
    expect(one.transferId).toBe(other.transferId);
    expect(await owner.completed(one)).toMatchObject({
      ...out,
      ...{ amount: '25', reference: expect.any(String), completedAt: expect.any(String) },
    });
    const again = await owner.call('funds.transfer', { ...wanted, amount: '26.00' });
    expect([again.status, again.code]).toEqual([409, 'IDEMPOTENCY_KEY_CONFLICT']);
    await eventually(async () => {
      expect(await owner.free(exchangeId)).toEqual({
        ...{ vault: before.vault - 25, trading: before.trading + 25 },
      });
    });
    await nothingIsMissing();
    await owner.completed(await owner.transfer({ ...back, amount: '25.00' }));
    await eventually(async () => {
      expect(await owner.free(exchangeId)).toEqual(before);
    });
    await nothingIsMissing();
    const { result } = await owner.call('ledger.entries', { domain, limit: 200 });
    const booked = (result.entries as readonly Json[]).filter(({ cause }) => {
      return (cause as Json | undefined)?.id === one.transferId;
    });
    expect(booked).toMatchObject([{ amount: '25' }]);
  }, 60_000);

  it('stays in place if there is too little of it', async () => {
    const before = await owner.free(exchangeId);
    for (const way of [out, back]) {
      const { status, code } = await owner.call('funds.transfer', { ...way, amount: '99999999.00' });
      expect([status, code]).toEqual([409, 'INSUFFICIENT_BALANCE']);
    }
    expect(await owner.free(exchangeId)).toEqual(before);
  });

  it.each(['executor', 'cell'])(
    'arrives once although the %s is killed in between',
    async (kind) => {
      const before = await owner.free(exchangeId);
      const moving = await Promise.all([
        ...Array.from({ length: 5 }, () => owner.transfer({ ...out, amount: '2.00' })),
      ]);
      await killed(kind);
      for (const transfer of moving) await owner.completed(transfer);
      await eventually(async () => {
        expect(await owner.free(exchangeId)).toEqual({
          ...{ vault: before.vault - 10, trading: before.trading + 10 },
        });
      }, 15_000);
      await owner.completed(await eventually(() => owner.transfer({ ...back, amount: '10.00' })));
      await nothingIsMissing();
    },
    120_000,
  );
});

describe('tokens between the vault and venue_e', () => {
  const contract = 'e-hottest-year';
  const inVault = `${contract}/YES`;
  let market_id = '';
  let token = '';
  const moving = (from: string, to: string, amount: string): Json => {
    return { exchangeId: 'venue_e', asset: token, from, to, amount };
  };

  beforeAll(async () => {
    await owner.link('venue_e');
    const { result } = await owner.call('markets.list', { exchangeId: 'venue_e', limit: 100 });
    const market = (result.markets as readonly Json[]).find(({ contract_id }) => contract_id === contract);
    market_id = String(market?.market_id);
    token = `#${market_id}0`;
  });

  it('move out, are held under the name of their market, are sold from there, and move back', async () => {
    await nothingIsMissing();
    const before = await owner.tokens(inVault, token);
    const wanted = { ...moving('vault', 'chain', '30'), clientRequestId: randomUUID() };
    const [one, other] = await Promise.all([owner.transfer(wanted), owner.transfer(wanted)]);
    expect(one.transferId).toBe(other.transferId);
    expect(await owner.completed(one)).toMatchObject({ exchangeId: 'venue_e', asset: token, amount: '30' });
    await eventually(async () => {
      const { vault, trading } = before;
      expect(await owner.tokens(inVault, token)).toEqual({ vault: vault - 30, trading: trading + 30 });
    });
    const { body } = await floor.trader('originator-1').send('GET', '/positions/exposure');
    expect(body.positions).toContainEqual(
      expect.objectContaining({ exchange_id: 'venue_e', market_id, token_id: token, outcome: 'YES' }),
    );
    await nothingIsMissing();
    const names = { exchange_id: 'venue_e', market_id, outcome: 'YES', token_id: token };
    const sell = { ...names, side: 'sell', kind: 'limit', price: 0.99, quantity: 10 };
    const resting = await floor.trader('originator-1').place(sell, 'open');
    const much = await owner.call('funds.transfer', moving('chain', 'vault', '21'));
    expect([much.status, much.code]).toEqual([409, 'INSUFFICIENT_POSITION']);
    await floor.trader('originator-1').send('POST', `/orders/${resting.order_id}/cancel`, {});
    await floor.trader('originator-1').until(resting.order_id, 'cancelled');
    await owner.completed(await owner.transfer(moving('chain', 'vault', '30')));
    await eventually(async () => expect(await owner.tokens(inVault, token)).toEqual(before));
    await nothingIsMissing();
    const { result } = await owner.call('ledger.entries', { asset: inVault, domain: 'vault', limit: 200 });
    const out = (result.entries as readonly Json[]).filter(({ cause }) => {
      return (cause as Json | undefined)?.id === one.transferId;
    });
    expect(out.map(({ account, amount }) => [account, amount])).toEqual([
      ...[
        ['available', '-30'],
        ['held', '30'],
        ['held', '-30'],
        ['in_transit', '30'],
        ['in_transit', '-30'],
      ],
    ]);
  }, 60_000);

  it('stay if there are too few, or if the auctions do not trade their market', async () => {
    const before = await owner.tokens(inVault, token);
    for (const [from, to] of [
      ['vault', 'chain'],
      ['chain', 'vault'],
    ] as const) {
      const { status, code } = await owner.call('funds.transfer', moving(from, to, '99999999'));
      expect([status, code]).toEqual([409, 'INSUFFICIENT_POSITION']);
    }
    const { market_id: other } = await floor.market('venue_e');
    for (const asset of [`#${other}0`, '#9999990', inVault, 'USD']) {
      const { status, code } = await owner.call('funds.transfer', {
        ...moving('vault', 'chain', '1'),
        asset,
      });
      expect([status, code]).toEqual([400, 'VALIDATION_INVALID_PARAMETER']);
    }
    const asset = 'KXTREATY-26SIGN:Yes';
    const ofB = { exchangeId: 'venue_b', asset, from: 'vault', to: 'kalshi_usd', amount: '1' };
    expect((await owner.call('funds.transfer', ofB)).status).toBe(400);
    expect(await owner.tokens(inVault, token)).toEqual(before);
  });

  it.each(['executor', 'cell'])(
    'arrive once although the %s is killed in between',
    async (kind) => {
      const before = await owner.tokens(inVault, token);
      const sent = await Promise.all([
        ...Array.from({ length: 5 }, () => owner.transfer(moving('vault', 'chain', '2'))),
      ]);
      await killed(kind);
      for (const transfer of sent) await owner.completed(transfer);
      await eventually(async () => {
        const { vault, trading } = before;
        expect(await owner.tokens(inVault, token)).toEqual({ vault: vault - 10, trading: trading + 10 });
      }, 15_000);
      await owner.completed(await eventually(() => owner.transfer(moving('chain', 'vault', '10'))));
      await eventually(async () => expect(await owner.tokens(inVault, token)).toEqual(before));
      await nothingIsMissing();
    },
    120_000,
  );
});

it('an account that its owner has linked gets money from the vault', async () => {
  const mine = await floor.admin('POST', '/accounts', { exchange_id: 'venue_b' });
  const { key_id, private_key_pem } = mine;
  await brings.link('venue_b', { key_id, private_key_pem });
  const vault = { exchangeId: 'venue_b', asset: 'USD', from: 'vault', to: 'kalshi_usd' };
  const before = await brings.free('venue_b');
  await brings.completed(await brings.transfer({ ...vault, amount: '7.00' }));
  await eventually(async () => {
    expect(await brings.free('venue_b')).toEqual({ vault: before.vault - 7, trading: before.trading + 7 });
  });
  await nothingIsMissing();
}, 60_000);

it('a surplus or deficit of the vault shows in the report', async () => {
  await nothingIsMissing();
  const given = (amount: string, shares?: Json): Promise<Json> =>
    floor.admin('POST', '/faucet', { exchange_id: 'venue_b', account: 'vault', amount, shares });
  await given('1.5');
  await given('3', { market_id: 'KXTREATY-26SIGN', outcome: 'Yes' });
  await given('2', { market_id: 'KXSNOW-26DEC', outcome: 'No' });
  await eventually(async () => {
    const { result } = await admin.call('admin.reserves.report');
    const rows = (result.rows as readonly Json[]).filter(({ difference }) => difference !== '0');
    expect(rows.map(({ asset, difference }) => [asset, difference])).toEqual([
      ['USD', '1.5'],
      ['b-treaty-signed/YES', '3'],
      ['KXSNOW-26DEC:No', '2'],
    ]);
  });
});
