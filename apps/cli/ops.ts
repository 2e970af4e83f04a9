import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import type { ParsedCall } from '#libs/platform/terminal/commands.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { OpsCommand } from './ops/command.js';
import { credentialsFrom } from './ops/credentials.js';
import { EXIT_INTERRUPTED } from './ops/faults.js';
import { GatewayClient } from './ops/gateway-client.js';
import { OPS } from './ops/ops-area.js';
import { findPlace, opsSettings } from './ops/gateway-place.js';
import { OpsReport } from './ops/report.js';
import { program } from './program.js';

const LEAVE_WITHIN_MS = 3_000;

/** Speaks to a gateway over its public interface and nothing else. */
export const ops = program(OPS, async (call, { environment }) => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      stopping.abort();
      // An operator may be asked something, or a login be on its way that is not answered.
      setTimeout(() => process.exit(EXIT_INTERRUPTED), LEAVE_WITHIN_MS).unref();
    });
  // The reader of the output may have read enough: `ops ... | head`.
  const output = { isReadNoMore: false };
  process.stdout.on('error', () => {
    output.isReadNoMore = true;
    stopping.abort();
  });
  try {
    const code = await carryOut(call, environment, stopping.signal);
    return output.isReadNoMore ? 0 : code;
  } catch (error) {
    if (output.isReadNoMore) return 0;
    throw error;
  }
});

async function carryOut(
  call: ParsedCall<OpsCommand>,
  environment: Environment,
  stop: AbortSignal,
): Promise<number> {
  const settings = loadConfig(opsSettings, environment);
  const place = await findPlace(call.options.text('url'), settings);
  const terminal = process.stdin.isTTY ? { input: process.stdin, output: process.stderr } : undefined;
  const credentials = credentialsFrom({ settings, place, terminal });
  const gateway = new GatewayClient({ url: place.url, stop, credentials });
  const report = new OpsReport(print, mention, call.json, process.stdout.isTTY);
  try {
    return await call.command.run(call, { gateway, report, clock: new SystemClock(), stop });
  } finally {
    await gateway.close();
  }
}
