import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { instantFromNanos, plusMillis } from '#libs/base/instant.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { executionMigrations } from '../migrations/list.js';
import {
  VAULT_USER,
  type ActionSigning,
  type HeaderSigning,
  type SignerReply,
} from '../protocol/signer-protocol.js';
import { FileKeyManagement } from './key-management.js';
import { SealedKeys } from './sealed-keys.js';
import { READS_KEPT_MILLIS, SignatureRecord } from './signature-record.js';
import { SignerClient } from './signer-client.js';
import { SignerServer } from './signer-server.js';
import { SigningService } from './signing-service.js';

const TOKEN = 't'.repeat(32);
const KEY = '0f'.repeat(32);
const clock = new SystemClock();
let database: TestDatabase;
let folder: string;
let users = 0;
let stops: (() => unknown)[] = [];

beforeAll(async () => {
  database = await createTestDatabase(executionMigrations);
});
afterAll(() => database.drop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signer-'));
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  stops = [];
  rmSync(folder, { recursive: true });
});

function newUser(): string {
  users += 1;
  return `user-${users}`;
}

async function startServer(
  key = KEY,
  path = join(folder, 'signer.sock'),
  answered: (reply: SignerReply) => Promise<SignerReply> = (reply) => Promise.resolve(reply),
): Promise<SignerServer> {
  const { pool } = database;
  const service = new SigningService({
    ...{ keys: new SealedKeys(pool), management: new FileKeyManagement(key) },
    ...{ record: new SignatureRecord(pool), clock, network: 'main' },
  });
  const server = new SignerServer({
    path,
    serviceTokens: () => [TOKEN],
    answer: async (request) => answered(await service.answer(request)),
    onFault: () => undefined,
    clock,
  });
  await server.listen();
  stops.push(() => server.close());
  return server;
}

function newClient(token = TOKEN, patienceMillis = 5_000): SignerClient {
  const client = new SignerClient({
    path: join(folder, 'signer.sock'),
    serviceToken: () => token,
    clock,
    patienceMillis,
  });
  stops.push(() => {
    client.close();
  });
  return client;
}

const CANCEL = { type: 'cancel', cancels: [{ a: 100_000_000, o: 1 }] };

type Action = Omit<ActionSigning, 'op'>;

function cancelOf(user_id: string, order_id = 'order'): Action {
  return { user_id, order_id, venue: 'venue_e', by: 'agent', action: CANCEL, nonce: '1790000000000' };
}

function sendOf(user_id: string, destination: string): Action {
  const action = {
    ...{ type: 'spotSend', signatureChainId: '0x66eee', hyperliquidChain: 'Mainnet' },
    ...{ destination, token: 'USDC', amount: '1', time: 1_790_000_000_000 },
  };
  return { user_id, venue: 'venue_e', by: 'account', action, nonce: '1790000000000' };
}

describe('the socket', () => {
  it('only the user of the process can open it', async () => {
    await startServer();
    expect(statSync(join(folder, 'signer.sock')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['whose folder does not exist', 'no/signer.sock'],
    ['that is too long for a socket', `${'x'.repeat(120)}.sock`],
  ])('a path %s is refused in one line', async (_, path) => {
    await expect(startServer(KEY, join(folder, path))).rejects.toMatchObject({
      ...{ name: 'StartFault', exitCode: 78, message: expect.stringContaining('SIGNER_SOCKET') },
    });
  });

  it('a client without the service token is disconnected', async () => {
    await startServer();
    const socket = connect(join(folder, 'signer.sock'));
    socket.write('{"token":"wrong"}\n{"id":1,"request":{"op":"status"}}\n');
    socket.resume();
    await once(socket, 'close');
    await expect(newClient('x'.repeat(32), 300).status()).rejects.toMatchObject({
      code: 'SIGNER_UNAVAILABLE',
    });
  });

  it('a request waits for the signer, and fails with SIGNER_UNAVAILABLE if none appears', async () => {
    const user = newUser();
    await expect(newClient(TOKEN, 200).createKey(user, 'venue_e')).rejects.toMatchObject({
      code: 'SIGNER_UNAVAILABLE',
    });
    const asked = newClient().createKey(user, 'venue_e');
    await startServer();
    expect((await asked).account).toMatch(/^0x[0-9a-f]{40}$/);
  });

  it('a second signer on the same socket is refused, and a restarted one answers again', async () => {
    const first = await startServer();
    await expect(startServer()).rejects.toThrow('another process answers');
    const client = newClient();
    await client.status();
    await first.close();
    const asked = client.status();
    await startServer();
    expect(await asked).toMatchObject({ signatures: 0 });
  });
});

describe('keys', () => {
  it('a key is made only once for each user and venue', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    const [one, two] = await Promise.all([
      client.createKey(user, 'venue_e'),
      client.createKey(user, 'venue_e'),
    ]);
    expect(two).toEqual(one);
    expect(await client.accountOf(user, 'venue_e')).toEqual(one);
    expect(await client.accountOf(newUser(), 'venue_e')).toBeUndefined();
  });

  it('a sealed key opens only for its owner and with the right root key', async () => {
    const management = new FileKeyManagement(KEY);
    const secret = Buffer.from('secret of a user');
    const owner = { user_id: 'u', venue: 'venue_b' } as const;
    const sealed = await management.wrap(secret, owner);
    expect(await management.unwrap(sealed, owner)).toEqual(secret);
    await expect(management.unwrap(sealed, { ...owner, user_id: 'v' })).rejects.toThrow();
    await expect(management.unwrap(sealed, { ...owner, venue: 'venue_e' })).rejects.toThrow();
    await expect(new FileKeyManagement('aa'.repeat(32)).unwrap(sealed, owner)).rejects.toThrow();
    expect(sealed.includes(secret)).toBe(false);
  });

  it('a new key of venue b signs only after the venue has accepted and named it', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    const made = await client.createKey(user, 'venue_b');
    expect(made).toMatchObject({ account: '', public_key_pem: expect.stringContaining('PUBLIC KEY') });
    const call: Omit<HeaderSigning, 'op'> = {
      user_id: user,
      venue: 'venue_b',
      method: 'GET',
      path: '/trade-api/v2/portfolio/fills',
      timestamp_ms: '1790000000000',
      body_sha256: '',
    };
    await expect(client.sign(call)).rejects.toMatchObject({ code: 'NOT_LINKED' });
    await client.nameKey(user, { account: `account-${user}`, key_id: `key-${user}` });
    const { headers } = await client.sign(call);
    expect(headers).toMatchObject({ 'KALSHI-ACCESS-KEY': `key-${user}` });
  });

  it('a key supplied by a user replaces the former one, and its account belongs to one user', async () => {
    await startServer();
    const [client, user, other] = [newClient(), newUser(), newUser()];
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const key = { account: `account-${user}`, key_id: 'k1', private_key_pem: pem };
    await client.storeKey(user, key);
    expect(await client.storeKey(user, { ...key, key_id: 'k2' })).toMatchObject({ key_id: 'k2' });
    await expect(client.storeKey(other, key)).rejects.toMatchObject({ code: 'SIGNER_REFUSED' });
    const small = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
    const weak = small.export({ format: 'pem', type: 'pkcs8' }).toString();
    for (const bad of [weak, 'no key']) {
      await expect(client.storeKey(other, { ...key, private_key_pem: bad })).rejects.toMatchObject({
        code: 'SIGNER_REFUSED',
      });
    }
  });
});

describe('signatures', () => {
  it('signatures are recorded before they are returned, and cannot be deleted', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    const { agent } = await client.createKey(user, 'venue_e');
    await Promise.all(Array.from({ length: 20 }, (_, index) => client.sign(cancelOf(user, `o-${index}`))));
    const { rows } = await database.pool.query<{ order_id: string; key_id: string; content: string }>(
      'select order_id, key_id, content from signer.signatures where user_id = $1',
      [user],
    );
    expect(rows).toHaveLength(20);
    expect(new Set(rows.map(({ order_id: id }) => id)).size).toBe(20);
    expect(rows[0]).toMatchObject({ key_id: agent, content: expect.stringContaining('"nonce":"1790') });
    await expect(database.pool.query('delete from signer.signatures')).rejects.toThrow('append-only');
  });

  it('signatures of reads are recorded for a limited time', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    await client.createKey(user, 'venue_b');
    await client.nameKey(user, { account: `account-${user}`, key_id: `key-${user}` });
    const call = (method: 'GET' | 'POST', path: string): Omit<HeaderSigning, 'op'> => {
      const timestamp_ms = '1790000000000';
      return { user_id: user, venue: 'venue_b', method, path, timestamp_ms, body_sha256: '' };
    };
    await Promise.all([
      client.sign(call('GET', '/trade-api/v2/portfolio/fills')),
      client.sign(call('GET', '/trade-api/v2/portfolio/balance')),
      client.sign(call('POST', '/trade-api/v2/portfolio/orders')),
    ]);
    const written = async (table: string): Promise<string[]> => {
      const text = `select content from signer.${table} where user_id = $1 order by content`;
      const { rows } = await database.pool.query<{ content: string }>(text, [user]);
      return rows.map(({ content }) => content);
    };
    const reads = [expect.stringMatching(/GET.*balance$/), expect.stringMatching(/GET.*fills$/)];
    expect(await written('read_signatures')).toEqual(reads);
    expect(await written('signatures')).toEqual([expect.stringMatching(/POST.*orders$/)]);
    expect(await client.status()).toMatchObject({ signatures: 3 });
    const record = new SignatureRecord(database.pool);
    const now = instantFromNanos(clock.epochNanos());
    await record.forgetReads(plusMillis(now, READS_KEPT_MILLIS - 60_000));
    expect(await written('read_signatures')).toEqual(reads);
    await record.forgetReads(plusMillis(now, READS_KEPT_MILLIS + 60_000));
    expect(await written('read_signatures')).toEqual([]);
    expect(await written('signatures')).toHaveLength(1);
  });

  it('a read that cannot be recorded is not signed', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    await client.createKey(user, 'venue_b');
    await client.nameKey(user, { account: `account-${user}`, key_id: `key-${user}` });
    await database.pool.query('alter table signer.read_signatures rename to gone');
    try {
      const path = '/trade-api/v2/portfolio/fills';
      const call = { method: 'GET', path, timestamp_ms: '1790000000000', body_sha256: '' } as const;
      const asked = client.sign({ user_id: user, venue: 'venue_b', ...call });
      await expect(asked).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE' });
    } finally {
      await database.pool.query('alter table signer.gone rename to read_signatures');
    }
  });

  it('a signature whose answer was lost is made again for the same bytes, and one is returned', async () => {
    const first = await startServer();
    const [client, user] = [newClient(), newUser()];
    await client.createKey(user, 'venue_e');
    await first.close();
    const dying = await startServer(KEY, undefined, () => new Promise(() => undefined));
    let answers = 0;
    const asked = client.sign(cancelOf(user)).finally(() => (answers += 1));
    const written = async (): Promise<unknown[]> => {
      const text = 'select content, body_sha256, digest from signer.signatures where user_id = $1';
      return (await database.pool.query<{ content: string }>(text, [user])).rows;
    };
    await eventually(async () => expect(await written()).toHaveLength(1));
    await dying.close();
    await startServer();
    expect((await asked).signature.v).toBeGreaterThanOrEqual(27);
    const [one, other, ...more] = await written();
    expect([other, more, answers]).toEqual([one, [], 1]);
  });

  it('a signature that cannot be recorded is not made', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    await client.createKey(user, 'venue_e');
    await database.pool.query('alter table signer.signatures rename to gone');
    try {
      await expect(client.sign(cancelOf(user))).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE' });
    } finally {
      await database.pool.query('alter table signer.gone rename to signatures');
    }
    expect((await client.sign(cancelOf(user))).signature.v).toBeGreaterThanOrEqual(27);
  });

  it('money may be sent only between a user and the vault', async () => {
    await startServer();
    const [client, user, other] = [newClient(), newUser(), newUser()];
    const [own, theirs, vault] = await Promise.all([
      client.createKey(user, 'venue_e'),
      client.createKey(other, 'venue_e'),
      client.createKey(VAULT_USER, 'venue_e'),
    ]);
    await client.sign(sendOf(user, vault.account));
    await client.sign(sendOf(VAULT_USER, own.account));
    const elsewhere = `0x${'ab'.repeat(20)}`;
    for (const [from, to] of [
      [user, theirs.account],
      [user, elsewhere],
      [VAULT_USER, elsewhere],
    ] as const) {
      await expect(client.sign(sendOf(from, to))).rejects.toMatchObject({ code: 'SIGNER_REFUSED' });
    }
  });

  it('only the agent whose key is stored here may be authorized', async () => {
    await startServer();
    const [client, user] = [newClient(), newUser()];
    const { agent } = await client.createKey(user, 'venue_e');
    const approve = (agentAddress: string | undefined): Action => ({
      ...{ user_id: user, venue: 'venue_e', by: 'account', nonce: '5' },
      action: {
        ...{ type: 'approveAgent', signatureChainId: '0x66eee', hyperliquidChain: 'Mainnet' },
        ...{ agentAddress, agentName: '', nonce: 5 },
      },
    });
    await client.sign(approve(agent));
    await expect(client.sign(approve(`0x${'cd'.repeat(20)}`))).rejects.toMatchObject({
      code: 'SIGNER_REFUSED',
    });
  });
});
