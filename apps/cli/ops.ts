import { type Environment, loadConfig } from '#libs/platform/settings/config.js';
import type { CommandArea, ParsedCall } from '#libs/platform/terminal/commands.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { type OpsCommand, OpsReport } from './ops/report.js';
import { credentialsFrom } from './ops/credentials.js';
import { EXIT_INTERRUPTED } from './ops/arguments.js';
import { GatewayClient } from './ops/gateway-client.js';
import { findPlace, opsSettings } from './ops/gateway-place.js';
import { program } from './program.js';
import { actions, auctionVoid, limits } from './ops/record-commands.js';
import { haltImpose, haltLift, halts } from './ops/halt-commands.js';
import { shardDrain, shardResume, shards } from './ops/shard-commands.js';

const LEAVE_WITHIN_MS = 3_000;

/** The commands of operators. */
export const OPS: CommandArea<OpsCommand> = {
  name: 'ops',
  commands: [shards, shardDrain, shardResume, halts, haltImpose, haltLift, auctionVoid, actions, limits],
  notes: [
    'Uses the gateway of --url, else of OPS_URL, else of the cluster that runs in DATA_DIR (.data). Logs in with OPS_TOKEN, or',
    'OPS_EMAIL and OPS_PASSWORD, or asks on the terminal; credentials are never arguments. The account needs the role OPERATOR.',
    'Exit codes: 0 done, 1 refused, 64 wrong usage, 69 the gateway or a part of it cannot be reached, 78 a wrong setting.',
  ],
};

/** Uses the public interface of a gateway only. */
export const ops = program(OPS, async (call, { environment }) => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      stopping.abort();
      // A prompt or an unanswered login may still be open.
      setTimeout(() => process.exit(EXIT_INTERRUPTED), LEAVE_WITHIN_MS).unref();
    });
  // The reader of the output may stop early: `ops ... | head`.
  const output = { isClosed: false };
  process.stdout.on('error', () => {
    output.isClosed = true;
    stopping.abort();
  });
  try {
    const code = await runCommand(call, environment, stopping.signal);
    return output.isClosed ? 0 : code;
  } catch (error) {
    if (output.isClosed) return 0;
    throw error;
  }
});

async function runCommand(
  call: ParsedCall<OpsCommand>,
  environment: Environment,
  stop: AbortSignal,
): Promise<number> {
  const settings = loadConfig(opsSettings, environment);
  const gatewayAddress = await findPlace(call.options.text('url'), settings);
  const terminal = process.stdin.isTTY ? { input: process.stdin, output: process.stderr } : undefined;
  const credentials = credentialsFrom({ settings, place: gatewayAddress, terminal });
  const gateway = new GatewayClient({ url: gatewayAddress.url, stop, credentials });
  const report = new OpsReport(print, mention, call.json, process.stdout.isTTY);
  try {
    return await call.command.run(call, { gateway, report, clock: new SystemClock(), stop });
  } finally {
    await gateway.close();
  }
}
