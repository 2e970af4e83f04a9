import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const FRAME = `
  import { createLogger } from '#libs/platform/process/log.js';
  import { runProcess } from '#libs/platform/process/lifecycle.js';
  import { startInternalServer } from '#libs/platform/internal-server/internal-server.js';
  import { createMetrics } from '#libs/platform/process/metrics.js';
  const log = createLogger({ name: 'trial', level: 'info' });
  const run = (main, options = {}) => runProcess({ log, supervised: false, ...options }, main);
  setInterval(() => undefined, 1000);
`;

interface Ending {
  readonly code: number | null;
  readonly lines: { level: string; msg: string; reason?: string; exit_code?: number }[];
}

/** Runs compiled code in a separate process; `act` is called once it has logged that it is up. */
async function ending(
  body: string,
  act: (child: ReturnType<typeof spawn>) => void = () => undefined,
): Promise<Ending> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', FRAME + body], {
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
      .map((line) => JSON.parse(line) as Ending['lines'][number]),
  };
}

const UP = `async (scope) => {
  scope.onStop('first', () => log.info('closing first'));
  scope.onStop('second', async () => log.info('closing second'));
  log.info('up');
}`;

it('stops its parts on SIGTERM, the last opened first, and ends with 0', async () => {
  const { code, lines } = await ending(`run(${UP})`, (child) => child.kill('SIGTERM'));
  expect(code).toBe(0);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'up',
    'stopping',
    'closing second',
    'closing first',
    'stopped',
  ]);
});

it('stops when the pipe from its launcher ends', async () => {
  const { code, lines } = await ending(`run(${UP}, { supervised: true })`, (child) => child.stdin?.destroy());
  expect(code).toBe(0);
  expect(lines.find(({ msg }) => msg === 'stopping')?.reason).toBe('launcher gone');
});

it('does not wait without end for a part that does not close', async () => {
  const stuck = `async (scope) => { scope.onStop('stuck', () => new Promise(() => {})); log.info('up'); }`;
  const { code, lines } = await ending(`run(${stuck}, { stopWithinMs: 100 })`, (child) =>
    child.kill('SIGTERM'),
  );
  expect(code).toBe(69);
  expect(lines.at(-1)?.msg).toContain('not stopped in time');
});

it('ends with 70 and a fatal line on an uncaught error', async () => {
  const { code, lines } = await ending(
    `run(async () => { setTimeout(() => { throw new Error('bug') }, 1) })`,
  );
  expect(code).toBe(70);
  expect(lines.at(-1)).toMatchObject({ level: 'fatal', msg: 'cannot go on', exit_code: 70 });
});

it('ends by itself if continuing could do harm, and logs the exit code in its last line', async () => {
  const { code, lines } = await ending(`run(async (scope) => scope.failNow(new Error('the journal')))`);
  expect([code, lines.at(-1)]).toMatchObject([70, { level: 'fatal', exit_code: 70 }]);
});

it('reports in one line that its port is taken, and ends with 69', async () => {
  const squatter = createServer().listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  const { port } = squatter.address() as AddressInfo;
  const { code, lines } = await ending(
    `run(() => startInternalServer({ registry: createMetrics({}) }, ${port}))`,
  );
  squatter.close();
  expect(code).toBe(69);
  expect(lines.map(({ msg }) => msg)).toEqual([`address 127.0.0.1:${port} is taken by another process`]);
});
