import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { isPortFree } from '#libs/platform/supervision/ports.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';

jest.setTimeout(180_000);

const READY = /^ready: KAFKA_BROKERS=127\.0\.0\.1:(\d+)$/m;
const BROKER = /^broker \d: \S+, process (\d+)$/gm;
const GONE_WITHIN_MS = 20_000;
const READY_WITHIN_MS = 120_000;
const clock = new SystemClock();

class Run {
  output = '';
  private readonly ended: Promise<number>;

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => (this.output += String(chunk)));
    }
    this.ended = once(child, 'exit').then(([code]) => code as number);
  }

  static start(...args: readonly string[]): Run {
    return Run.inWorldOf(process.env, ...args);
  }

  static inWorldOf(env: NodeJS.ProcessEnv, ...args: readonly string[]): Run {
    const program = path.resolve('dist/apps/cli/main.js');
    return new Run(
      spawn(process.execPath, [program, 'kafka', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env }),
    );
  }

  static byNpm(...args: readonly string[]): Run {
    return new Run(spawn('npm', ['run', 'kafka', '--', ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Starts it as npm does, then ends its parents. Prints its pid. */
  static orphan(...args: readonly string[]): Run {
    const line = 'npm_lifecycle_event=kafka setsid "$0" dist/apps/cli/main.js kafka "$@" & echo $!';
    return new Run(
      spawn('sh', ['-c', line, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
    );
  }

  /** Pids of the brokers. */
  pids(): number[] {
    return [...this.output.matchAll(BROKER)].map(([, pid]) => Number(pid));
  }

  /** Until the tool and its brokers are gone. */
  async untilGone(pids: readonly number[]): Promise<void> {
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]), GONE_WITHIN_MS);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async port(): Promise<number> {
    await eventually(() => expect(this.output).toMatch(READY), READY_WITHIN_MS);
    return Number(READY.exec(this.output)?.[1]);
  }

  async ready(): Promise<void> {
    await eventually(() => expect(this.output).toContain('ready: '), READY_WITHIN_MS);
  }

  stop(): Promise<number> {
    this.child.kill('SIGTERM');
    return this.ended;
  }

  get code(): Promise<number> {
    return this.ended;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describeWithKafka('npm run kafka', { anyBrokers: true }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sotto-kafka-run-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('starts a usable broker, stops it without leftovers, and finds its data again', async () => {
    const first = Run.start('--folder', folder);
    const port = await first.port();
    const topics = new KafkajsTopics(
      { brokers: [`127.0.0.1:${port}`], clientId: 'test' },
      { prefix: 'kept.', family: 'auction' },
      clock,
    );
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: (shard) => topics.prepare(shard),
      clock,
      opener: 'test',
    });
    const writer = await journal.open(0);
    await writer.append(['"kept"']);
    await writer.close();
    expect(await first.stop()).toBe(0);
    expect(await isPortFree(port, '127.0.0.1')).toBe(true);
    const again = Run.start('--folder', folder);
    expect(await again.port()).toBe(port);
    const heir = await journal.open(0);
    expect(heir.head).toMatchObject({ epoch: 2, sequence: 3 });
    await heir.close();
    const beside = Run.start('--folder', folder);
    expect([await beside.code, beside.output]).toEqual([
      69,
      expect.stringContaining('is already running (process '),
    ]);
    expect(await again.stop()).toBe(0);
    const other = Run.start('--folder', folder, '--brokers', '3');
    expect([await other.code, other.output]).toEqual([
      78,
      expect.stringContaining('a cluster of 1, not of 3'),
    ]);
  });

  it('makes one cluster of two starts in the same new folder, and says so to the second', async () => {
    const place = path.join(folder, 'twice');
    const starts = [Run.start('--folder', place), Run.start('--folder', place)];
    const second = await Promise.race(starts.map((start) => start.code.then(() => start)));
    expect([await second.code, second.output]).toEqual([
      69,
      expect.stringContaining('is already running (process '),
    ]);
    const [first] = starts.filter((start) => start !== second);
    await first?.ready();
    expect(await first?.stop()).toBe(0);
  });

  it('names the signal that ended a broker', async () => {
    const run = Run.start('--folder', path.join(folder, 'asked'));
    await run.ready();
    for (const pid of run.pids()) process.kill(pid, 'SIGTERM');
    await eventually(
      () => expect(run.output).toMatch(/^broker 1 has ended \(SIGTERM\): it is started again/m),
      GONE_WITHIN_MS,
    );
    expect(await run.stop()).toBe(0);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('ends with npm, by %s, and its broker with it', async (signal) => {
    const run = Run.byNpm('--folder', path.join(folder, `npm-${signal}`));
    await run.port();
    const brokers = run.pids();
    expect(brokers.filter(isAlive)).toHaveLength(1);
    run.kill(signal);
    await run.code;
    await run.untilGone(brokers);
    expect(run.output).toContain('stopping');
  });

  it('ends with an npm that has gone before it could find its parent', async () => {
    const place = path.join(folder, 'orphan');
    const run = Run.orphan('--folder', place);
    await eventually(() => expect(run.output).toMatch(/^\d+$/m));
    const orphan = Number(/^\d+$/m.exec(run.output)?.[0]);
    await run.code;
    await run.untilGone([orphan]);
    expect(run.output).toContain('starting Kafka');
    const next = Run.start('--folder', place);
    await next.ready();
    expect(await next.stop()).toBe(0);
  });

  it('leaves no broker running when it is killed itself', async () => {
    const run = Run.start('--folder', path.join(folder, 'killed'));
    await run.port();
    const brokers = run.pids();
    run.kill('SIGKILL');
    await run.code;
    await run.untilGone(brokers);
  });

  it('goes on with two of three brokers, and restarts the third', async () => {
    const run = Run.start('--folder', path.join(folder, 'three'), '--brokers', '3');
    await run.ready();
    const [first = 0, ...others] = run.pids();
    process.kill(first, 'SIGKILL');
    await eventually(() =>
      expect(run.output).toMatch(/^broker 1 has ended \(SIGKILL\): it is started again/m),
    );
    expect(others.filter(isAlive)).toHaveLength(2);
    await eventually(
      () => expect(run.output).toMatch(/^broker 1 is started again, as process \d+$/m),
      30_000,
    );
    expect(others.filter(isAlive)).toHaveLength(2);
    const again = Number(/started again, as process (\d+)/.exec(run.output)?.[1]);
    expect([again === first, isAlive(again)]).toEqual([false, true]);
    expect(await run.stop()).toBe(0);
    await run.untilGone([...others, again]);
  });

  it('keeps its data in the given folder, whatever characters its path has, and finds them again', async () => {
    const odd = path.join(folder, 'odd');
    const named = path.join(odd, 'Zo\u00eb \u6771, a\\b=#');
    // As from cron: Java then treats every name as ASCII.
    const start = (): Run => Run.inWorldOf({ PATH: process.env.PATH, LC_ALL: 'C' }, '--folder', named);
    const ids: string[] = [];
    for (let times = 0; times < 2; times += 1) {
      const run = start();
      await run.ready();
      ids.push(readFileSync(path.join(named, 'broker-1/data/meta.properties'), 'utf8'));
      expect(await run.stop()).toBe(0);
    }
    expect(ids[1]).toBe(ids[0]);
    expect([readdirSync(odd), readdirSync(named).sort()]).toEqual([
      [path.basename(named)],
      ['broker-1', 'cluster.json'],
    ]);
  });

  it.each([
    ['half of what was written', '{"clusterId":"AAAAAAAAAAAAAAAAAAAAAA","por'],
    ['something else', '{"clusterId":"x","ports":[]}'],
  ])('names the damaged file if it holds %s', async (name, text) => {
    const damaged = path.join(folder, `damaged ${name}`);
    mkdirSync(damaged);
    writeFileSync(path.join(damaged, 'cluster.json'), text);
    const run = Run.start('--folder', damaged);
    expect(await run.code).toBe(65);
    const said = run.output.trim().split('\n').slice(1);
    expect(said).toEqual([expect.stringContaining(`${damaged}/cluster.json is damaged: `)]);
  });

  it('makes no new cluster if that file is gone and the data exist', async () => {
    const bereft = path.join(folder, 'bereft');
    mkdirSync(path.join(bereft, 'broker-1/data'), { recursive: true });
    writeFileSync(path.join(bereft, 'broker-1/data/meta.properties'), 'cluster.id=AAAAAAAAAAAAAAAAAAAAAA');
    const run = Run.start('--folder', bereft);
    expect(await run.code).toBe(65);
    expect(run.output).toContain(`${bereft}/cluster.json is gone: `);
    expect(readdirSync(bereft)).toEqual(['broker-1']);
  });

  it('does not use the project folder instead of a folder without a name', async () => {
    const run = Run.start('--folder', '');
    expect([await run.code, run.output]).toEqual([64, expect.stringContaining('--folder must not be empty')]);
  });

  it.each([
    ['takes no folders', '/proc/sotto', 'its parent takes no folders'],
    ['is a link to nowhere', 'link', 'it is not a folder, but a link to nowhere'],
  ])('reports in one line that its folder %s', async (_, place, reason) => {
    if (place === 'link') symlinkSync(path.join(folder, 'gone'), path.join(folder, place));
    const run = Run.start('--folder', path.resolve(folder, place));
    expect(await run.code).toBe(69);
    const said = run.output.trim().split('\n').slice(1);
    expect(said).toEqual([expect.stringContaining(`: ${reason}`)]);
  });

  it('accepts one broker or three', async () => {
    const two = Run.start('--brokers', '2');
    expect([await two.code, two.output]).toEqual([64, expect.stringContaining('must be 1 or 3')]);
  });
});
