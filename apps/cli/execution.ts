import path from 'node:path';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { type Config, loadConfig } from '#libs/platform/settings/config.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { EXECUTION } from './execution/commands.js';
import { credentialsFrom } from './ops/credentials.js';
import { CommandFault } from './ops/arguments.js';
import { GatewayClient } from './ops/gateway-client.js';
import { executionSettings, findPlace } from './ops/gateway-place.js';
import { OpsReport } from './ops/report.js';
import { program } from './program.js';

/** Logs in at a gateway and uses that session for order execution. */
export const execution = program(EXECUTION, async (call, { environment }) => {
  const settings = loadConfig(executionSettings, environment);
  const gatewayAddress = await findPlace(call.options.text('url'), settings);
  const url = call.options.text('execution-url') ?? settings.EXECUTION_URL ?? (await fromCluster(settings));
  const terminal = process.stdin.isTTY ? { input: process.stdin, output: process.stderr } : undefined;
  const stop = new AbortController().signal;
  const credentials = credentialsFrom({ settings, place: gatewayAddress, terminal });
  const gateway = new GatewayClient({ url: gatewayAddress.url, stop, credentials });
  const orders = new GatewayClient({
    url,
    stop,
    credentials: async () => ({ token: await gateway.token(), mine: false }),
  });
  const report = new OpsReport(print, mention, call.json, process.stdout.isTTY);
  try {
    return await call.command.run(call, { orders, report });
  } finally {
    await orders.close();
    await gateway.close();
  }
});

async function fromCluster({
  DATA_DIR,
}: Pick<Config<typeof executionSettings>, 'DATA_DIR'>): Promise<string> {
  const file = path.join(path.resolve(DATA_DIR), 'cluster.json');
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const cluster = z.object({ execution_url: z.string() }).safeParse(JSON.parse(text));
  if (cluster.success) return cluster.data.execution_url;
  throw new CommandFault(
    `${file} has no URL of order execution: give --execution-url, or set EXECUTION_URL`,
    EXIT.unavailable,
  );
}
