import { spawn } from 'node:child_process';
import vm from 'node:vm';

const FLAGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

/**
 * Jest loads ES modules only with a Node flag. A bare `npx jest` lacks it, so this restarts jest with the
 * flag.
 */
export async function ensureVmModules() {
  if (vm.SourceTextModule !== undefined) return;
  const child = spawn(process.execPath, [...FLAGS, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  process.exit(await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1))));
}
