import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '#libs/testing/eventually.js';
import { OperatorFloor, type Action, type HaltJson, type ShardRowJson } from '../operator-floor.js';
import { mustBe } from '../trading-floor.js';

jest.setTimeout(60_000);

type Env = Readonly<Record<string, string>>;

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let ops: OperatorFloor;
let login: Env;

beforeAll(async () => {
  ops = await OperatorFloor.open();
  login = {
    DATA_DIR: ops.cluster.dataDir,
    OPS_EMAIL: 'operator-1@demo.sotto',
    OPS_PASSWORD: ops.cluster.file.demo.password,
  };
}, 90_000);

afterEach(() => ops.liftAll());
afterAll(() => ops.close());

/** The terminal, as `npm run ops` starts it. */
class Terminal {
  out = '';
  err = '';
  readonly process: ChildProcess;
  private readonly closed: Promise<unknown[]>;

  constructor(args: readonly string[], env: Env) {
    this.process = spawn(process.execPath, ['tools/run.mjs', 'apps/cli/main.js', 'ops', ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout?.on('data', (chunk) => (this.out += String(chunk)));
    this.process.stderr?.on('data', (chunk) => (this.err += String(chunk)));
    this.closed = once(this.process, 'close');
  }

  async end(): Promise<Run> {
    const [code] = (await this.closed) as [number | null];
    return { code, out: this.out, err: this.err };
  }
}

function run(args: string, env: Env = login): Promise<Run> {
  // "Quoted words" are one argument.
  const words = [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  return new Terminal(words, env).end();
}

/** Its output on success. */
async function says(args: string): Promise<string> {
  const { code, out, err } = await run(args);
  expect([args, code, err]).toEqual([args, 0, '']);
  return out;
}

async function tells<T>(args: string): Promise<T> {
  return JSON.parse(await says(`${args} --output json`)) as T;
}

describe('the terminal', () => {
  it('shows the shards as text and as JSON, and ends the session that it began', async () => {
    const sessions = 'select count(*)::int as count from identity.sessions';
    const revoked = 'select count(*)::int as count from identity.revocations';
    const count = async (text: string): Promise<number> =>
      (await ops.books.rows<{ count: number }>(text))[0]!.count;
    const before = [await count(sessions), await count(revoked)];
    const lines = (await says('shards')).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^SHARD {2}STATE +EPOCH +HEAD +LAG +AUCTIONS +CLOCK MS +RECOVERED$/);
    expect(lines.slice(1).map((line) => line.trim().split(/\s+/).slice(0, 2))).toEqual([
      ['0', 'ACTIVE'],
      ['1', 'ACTIVE'],
      ['2', 'ACTIVE'],
    ]);
    expect([await count(sessions), await count(revoked)]).toEqual(before.map((n) => n + 1));
    const { shards } = await tells<{ shards: ShardRowJson[] }>('shards 1');
    const row = await ops.rowOf(1);
    expect(shards).toEqual([
      { ...row, clock_offset_ms: expect.any(Number), projection_lag_events: expect.any(Number) },
    ]);
  });

  it('shows them again and again until Ctrl-C, and then exits with 0', async () => {
    const watch = new Terminal(['shards', '--watch', '--every', '1', '--output', 'json'], login);
    await eventually(() => expect(watch.out.split('\n').length).toBeGreaterThan(3), 20_000);
    watch.process.kill('SIGINT');
    const { code, out, err } = await watch.end();
    expect([code, err]).toEqual([0, '']);
    for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('shards');
  });

  it.each(['SIGTERM', 'SIGHUP', 'a reader that has read enough'] as const)(
    'ends the session that it began with %s, too',
    async (end) => {
      const revoked = async (): Promise<number> =>
        (
          await ops.books.rows<{ count: number }>('select count(*)::int as count from identity.revocations')
        )[0]!.count;
      const before = await revoked();
      const watch = new Terminal(['shards', '--watch', '--every', '1', '--output', 'json'], login);
      await eventually(() => expect(watch.out).toContain('shards'), 20_000);
      expect(await revoked()).toBe(before);
      if (end === 'SIGTERM' || end === 'SIGHUP') watch.process.kill(end);
      else watch.process.stdout?.destroy();
      expect(await watch.end()).toMatchObject({ code: 0, err: '' });
      expect(await revoked()).toBe(before + 1);
    },
  );

  it('goes on watching when its session ends, and stops when a given token ends', async () => {
    const args = ['shards', '--watch', '--every', '1', '--output', 'json'];
    const others = (await ops.books.rows<{ sid: string }>('select sid from identity.sessions')).map(
      ({ sid }) => sid,
    );
    const body = { email: login.OPS_EMAIL, password: login.OPS_PASSWORD };
    const session = await ops.floor.anybody.send<{ access_token: string }>('POST', '/auth/login', { body });
    const token = { ...login, OPS_TOKEN: session.body.access_token };
    const watches = [new Terminal(args, login), new Terminal(args, token)];
    const linesOf = ({ out }: Terminal): number => out.split('\n').length;
    await eventually(() => expect(Math.min(...watches.map(linesOf))).toBeGreaterThan(2), 20_000);
    await ops.books.rows(
      `insert into identity.revocations (id, kind, revoked_at, expires_at)
       select sid, 'SESSION', now(), max_until from identity.sessions where sid <> all($1) on conflict do nothing`,
      [others],
    );
    expect(await watches[1]!.end()).toMatchObject({ code: 1, err: expect.stringContaining('log in again') });
    const seen = linesOf(watches[0]!);
    await eventually(() => expect(linesOf(watches[0]!)).toBeGreaterThan(seen + 2), 20_000);
    watches[0]!.process.kill('SIGINT');
    expect(await watches[0]!.end()).toMatchObject({ code: 0, err: '' });
  });

  it('drains a shard, waits until it has no live auctions, and resumes it', async () => {
    const { auction_id: id } = await ops.opensOn(2);
    const timed = await run('shard drain 2 --reason "new disk" --wait --timeout 1');
    expect([timed.code, timed.out]).toEqual([1, 'shard 2 is DRAINING with 1 live auction\n']);
    expect(timed.err).toBe('ops: shard 2 is DRAINING with 1 live auction, after 1 s; the drain continues\n');
    const waiting = new Terminal(['shard', 'drain', '2', '--wait'], login);
    await eventually(() => expect(waiting.out).toContain('with 1 live auction'), 20_000);
    mustBe(200, await ops.originator.cancel(id));
    expect(await waiting.end()).toMatchObject({ code: 0, err: '' });
    expect(waiting.out).toMatch(/shard 2 is DRAINING with 0 live auctions\n$/);
    expect(await says('shard resume 2')).toBe('shard 2 is ACTIVE with 0 live auctions\n');
    expect((await ops.rowOf(2)).state).toBe('ACTIVE');
  });

  it('stops waiting for a shard that another operator resumes', async () => {
    const { auction_id: id } = await ops.opensOn(0);
    const waiting = new Terminal(['shard', 'drain', '0', '--wait'], login);
    await eventually(() => expect(waiting.out).toContain('with 1 live auction'), 20_000);
    mustBe(200, await ops.post('shards/0/resume', {}));
    const { code, err } = await waiting.end();
    expect([code, err]).toEqual([1, 'ops: shard 0 is no longer draining: it was resumed or restarted\n']);
    mustBe(200, await ops.originator.cancel(id));
  });

  it('imposes, lists and lifts halts', async () => {
    expect(await says('halts')).toBe('nothing is halted\n');
    const venue = 'halt impose --scope venue --target venue_d --what quote --reason "no prices"';
    const halt = await tells<HaltJson>(venue);
    expect(halt).toMatchObject({ scope: 'VENUE', target: 'venue_d', what: ['QUOTE'], reason: 'no prices' });
    // The same halt again is not a second one.
    expect(await says(venue)).toBe(`halt ${halt.halt_id} is active: no quotes for venue venue_d\n`);
    const listed = (await says('halts')).split('\n')[1];
    expect(listed).toMatch(new RegExp(`^${halt.halt_id} {2}VENUE {2}venue_d {2}QUOTE .* no prices$`));
    expect(await says(`halt lift ${halt.halt_id}`)).toBe(`halt ${halt.halt_id} is lifted\n`);
    const again = await run(`halt lift ${halt.halt_id}`);
    expect([again.code, again.err]).toEqual([1, expect.stringMatching(/^ops: 404 not_found: .*\n$/)]);
  });

  it('voids an auction and shows who did what', async () => {
    const { auction_id: id } = await ops.opensOn(1);
    expect(await says(`auction void ${id} --reason "wrong contract"`)).toBe(`auction ${id} is VOIDED\n`);
    expect((await ops.originator.view(id)).status).toBe('VOIDED');
    const page = await tells<{ actions: Action[]; next_cursor?: string }>('actions --limit 2');
    expect(page.actions.map(({ target, outcome }) => [target, outcome])).toEqual([
      [id, 'DONE'],
      [id, 'ASKED'],
    ]);
    const [head, first] = (await says('actions --limit 2')).split('\n');
    expect(head).toMatch(/^AT +WHO +ACTION +TARGET +OUTCOME +WHAT AND WHY$/);
    expect(first).toMatch(new RegExp(` {2}Operator 1 {2}VOID_AUCTION {2}${id} {2}DONE +wrong contract$`));
    const next = await says(`actions --limit 1 --cursor ${page.next_cursor ?? ''}`);
    expect(next).not.toContain(id);
  });

  it('shows limits, and those of an account', async () => {
    expect(await says('limits')).toMatch(/^create +account +100 +200$/m);
    const lines = await says(`limits ${ops.floor.accountOf('maker-8')}`);
    expect(lines).toMatch(/^name +Market Maker 8$/m);
    expect(lines).toMatch(/^control group +demo-house-1$/m);
    expect(lines).toMatch(/^quote +account +2500 +5000 +5000$/m);
  });
});

describe('in one line, and with the matching exit code, it reports', () => {
  const table: [string, string, (env: Env) => Env, number, RegExp][] = [
    [
      'that no login was given',
      'shards',
      ({ DATA_DIR }) => ({ DATA_DIR: DATA_DIR! }),
      64,
      /On this demo cluster: OPS_EMAIL=operator-1@demo\.sotto OPS_PASSWORD=/,
    ],
    [
      'that the gateway is dead',
      'shards --url http://127.0.0.1:9',
      (env) => env,
      69,
      /nothing answers at http:\/\/127\.0\.0\.1:9: is the gateway running\?/,
    ],
    [
      'that no cluster runs there',
      'shards',
      (env) => ({ ...env, DATA_DIR: '/nowhere' }),
      69,
      /no cluster is running in \/nowhere: give --url/,
    ],
    [
      'that the account is not an operator',
      'shards',
      (env) => ({ ...env, OPS_EMAIL: 'maker-1@demo.sotto' }),
      1,
      /404 not_found: .* this account is not an operator/,
    ],
    [
      'that the password is wrong',
      'shards',
      (env) => ({ ...env, OPS_PASSWORD: 'guess' }),
      1,
      /wrong e-mail or password/,
    ],
    ['that the token is wrong', 'shards', (env) => ({ ...env, OPS_TOKEN: 'guess' }), 1, /401 unauthorized/],
    [
      'that a setting is wrong',
      'shards',
      (env) => ({ ...env, OPS_URL: 'nowhere' }),
      78,
      /OPS_URL is wrong: it must be an http or https URL/,
    ],
    [
      'that the token is malformed',
      'shards',
      (env) => ({ ...env, OPS_TOKEN: 'two words' }),
      78,
      /OPS_TOKEN.* one word of visible ASCII/,
    ],
    [
      'that a URL has a user in it',
      'shards --url http://user:secret@127.0.0.1:1',
      (env) => env,
      64,
      /--url must not hold a user/,
    ],
    [
      "that a URL has more than the gateway's address",
      'shards --url http://127.0.0.1:1/?password=secret',
      (env) => env,
      64,
      /--url must hold only a scheme, a host and a port/,
    ],
    [
      'that a command is unknown',
      'halt list',
      (env) => env,
      64,
      /there is no command halt list, but halts, halt impose, halt lift; see --help/,
    ],
    ['that a shard is missing', 'shard drain', (env) => env, 64, /is missing; see shard drain --help/],
    ['that a shard does not exist', 'shard drain 7', (env) => env, 1, /404 not_found/],
    [
      'that an argument is wrong',
      'shard drain one',
      (env) => env,
      64,
      /a shard is a number such as 0, not "one"/,
    ],
    [
      'that a target is unknown',
      'halt impose --scope venue --target venue_z --reason x',
      (env) => env,
      1,
      /400 invalid_request/,
    ],
    [
      'that an option is unknown',
      'halt impose --scope all --reason x',
      (env) => env,
      64,
      /--scope must be one of global, venue, market, principal, not "all"/,
    ],
  ];
  it.each(table)('%s', async (_what, args, env, code, said) => {
    const { code: ended, out, err } = await run(args, env(login));
    expect([ended, out]).toEqual([code, '']);
    expect(err).toMatch(new RegExp(`^ops: .*${said.source}.*\n$`));
  });

  it('and to programs in JSON', async () => {
    const { code, err } = await run('shard drain 7 --output json');
    expect([code, JSON.parse(err)]).toEqual([
      1,
      expect.objectContaining({ status: 404, error: 'not_found' }),
    ]);
  });

  it('what it can do, when asked for help', async () => {
    const { code, out } = await run('--help', {});
    expect([code, out]).toEqual([0, expect.stringContaining('shard drain <shard>')]);
    const one = await run('shard drain --help', {});
    expect([one.code, one.out]).toEqual([0, expect.stringContaining('shard drain 1 --wait')]);
  });
});
