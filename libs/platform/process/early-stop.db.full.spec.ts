import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const LOADING = 'loading';
const RUNNING = 'running';

/** Runs `body` in a separate process, which gets `signal` as soon as it has printed `word`. */
async function runUntilEnd(
  args: readonly string[],
  word: string,
  signal: NodeJS.Signals,
): Promise<[number | NodeJS.Signals | null, string]> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const wasPrinted = output.includes(word);
    output += chunk.toString();
    if (!wasPrinted && output.includes(word)) child.kill(signal);
  });
  const [code, killedBy] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return [killedBy ?? code, output];
}

function program(load: string): string[] {
  const begin = `import { runUnlessStopped } from '#libs/platform/process/early-stop.js';`;
  return ['--input-type=module', '-e', `${begin} await runUnlessStopped(process.env, ${load});`];
}

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'a process that is told to stop by %s while it loads ends with 0',
  async (signal) => {
    const load = `() => { console.log('${LOADING}'); return new Promise(() => setInterval(() => {}, 1000)); }`;
    expect(await runUntilEnd(program(load), LOADING, signal)).toEqual([0, `${LOADING}\n`]);
  },
);

it('the running program handles the signals itself', async () => {
  const run = `() => {
    process.on('SIGTERM', () => { setTimeout(() => { console.log('stopped'); process.exit(3); }, 20); });
    setInterval(() => console.log('${RUNNING}'), 100);
  }`;
  expect(await runUntilEnd(program(`async () => ({ run: ${run} })`), RUNNING, 'SIGTERM')).toEqual([
    3,
    `${RUNNING}\nstopped\n`,
  ]);
});

/** Prints the word when the process starts to load its modules, and blocks there for a moment. */
const HOLD = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ resolve: (name, context, next) => {
    if (name === './run.js') { console.log('${LOADING}'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300); }
    return next(name, context);
  } });
`)}`;

it.each(['gateway', 'owner', 'projector', 'settler'])(
  'the process %s that is told to stop while it loads ends with 0',
  async (app) => {
    const main = path.resolve('dist/apps', app, 'main.js');
    expect(await runUntilEnd(['--import', HOLD, main], LOADING, 'SIGTERM')).toEqual([0, `${LOADING}\n`]);
  },
);
