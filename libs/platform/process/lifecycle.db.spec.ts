import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const PREAMBLE = `
  import { createLogger } from '#libs/platform/process/log.js';
  import { runProcess } from '#libs/platform/process/lifecycle.js';
  import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
  import { createMetrics } from '#libs/platform/process/metrics.js';
  const log = createLogger({ name: 'trial', level: 'info' });
  const run = (main, options = {}) => runProcess({ log, supervised: false, ...options }, main);
  setInterval(() => undefined, 1000);
`;

interface RunResult {
  readonly code: number | null;
  readonly lines: { level: string; msg: string; reason?: string; exit_code?: number }[];
}

/** Runs compiled code in a separate process. Calls `act` once it has logged that it is up. */
async function runUntilEnd(
  body: string,
  act: (child: ReturnType<typeof spawn>) => void = () => undefined,
): Promise<RunResult> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PREAMBLE + body], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const wasUp = output.includes('"up"');
    output += chunk.toString();
    if (!wasUp && output.includes('"up"')) act(child);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return {
    code,
    lines: output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunResult['lines'][number]),
  };
}

const UP = `async (scope) => {
  scope.onStop('first', () => log.info('closing first'));
  scope.onStop('second', async () => log.info('closing second'));
  log.info('up');
}`;

it('a process stops its parts on SIGTERM, the last opened first, and ends with 0', async () => {
  const { code, lines } = await runUntilEnd(`run(${UP})`, (child) => child.kill('SIGTERM'));
  expect(code).toBe(0);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'up',
    'stopping',
    'closing second',
    'closing first',
    'stopped',
  ]);
});

it('a supervised process stops when the pipe from its launcher ends', async () => {
  const { code, lines } = await runUntilEnd(`run(${UP}, { supervised: true })`, (child) =>
    child.stdin?.destroy(),
  );
  expect(code).toBe(0);
  expect(lines.find(({ msg }) => msg === 'stopping')?.reason).toBe('launcher gone');
});

it('a process with a part that does not stop ends with 69 after its time limit', async () => {
  const stuck = `async (scope) => { scope.onStop('stuck', () => new Promise(() => {})); log.info('up'); }`;
  const { code, lines } = await runUntilEnd(`run(${stuck}, { stopWithinMs: 100 })`, (child) =>
    child.kill('SIGTERM'),
  );
  expect(code).toBe(69);
  expect(lines.at(-1)?.msg).toContain('not stopped in time');
});

it('a process ends with 70 and a fatal line on an uncaught error', async () => {
  const { code, lines } = await runUntilEnd(
    `run(async () => { setTimeout(() => { throw new Error('bug') }, 1) })`,
  );
  expect(code).toBe(70);
  expect(lines.at(-1)).toMatchObject({ level: 'fatal', msg: 'cannot go on', exit_code: 70 });
});

it('failNow ends the process with 70 and a fatal line', async () => {
  const { code, lines } = await runUntilEnd(`run(async (scope) => scope.failNow(new Error('the journal')))`);
  expect([code, lines.at(-1)]).toMatchObject([70, { level: 'fatal', exit_code: 70 }]);
});

it('a process whose port is taken reports that in one line and ends with 69', async () => {
  const otherServer = createServer().listen(0, '127.0.0.1');
  await once(otherServer, 'listening');
  const { port } = otherServer.address() as AddressInfo;
  const { code, lines } = await runUntilEnd(
    `run(() => startInternalServer({ registry: createMetrics({}) }, ${port}))`,
  );
  otherServer.close();
  expect(code).toBe(69);
  expect(lines.map(({ msg }) => msg)).toEqual([`address 127.0.0.1:${port} is taken by another process`]);
});
