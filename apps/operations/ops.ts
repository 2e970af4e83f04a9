import { ConfigFault, StartFault } from '#libs/platform/process/start-fault.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { credentialsFrom } from './ops/credentials.js';
import { CommandFault, EXIT_INTERRUPTED, UsageFault } from './ops/faults.js';
import { GatewayClient } from './ops/gateway-client.js';
import { parseCall, type Parsed } from './ops/parse-call.js';
import { findPlace, opsSettings } from './ops/place.js';
import { Report } from './ops/report.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { wantsJson } from '#libs/platform/terminal/tool-faults.js';

const STAY_MS = 60_000;
const LEAVE_WITHIN_MS = 3_000;

type Asked = Exclude<Parsed, { readonly help: string }>;

/** The operators' terminal: speaks to a gateway over its public interface and nothing else. Resolves with the exit code. */
async function main(args: readonly string[], environment: Environment, stop: AbortSignal): Promise<number> {
  let asked: Asked | undefined;
  try {
    const parsed = parseCall(args);
    if ('help' in parsed) {
      print(parsed.help);
      return 0;
    }
    asked = parsed;
    return await carryOut(asked, environment, stop);
  } catch (error) {
    const fault = asCommandFault(error);
    reportFor(wantsJson(args)).fault(fault, hintFor(fault, asked));
    return fault.exitCode;
  }
}

async function carryOut(
  { command, call, json, url }: Asked,
  environment: Environment,
  stop: AbortSignal,
): Promise<number> {
  const clock = new SystemClock();
  const settings = loadConfig(opsSettings, environment);
  const place = await findPlace(url, settings);
  const terminal = process.stdin.isTTY ? { input: process.stdin, output: process.stderr } : undefined;
  const credentials = credentialsFrom({ settings, place, terminal });
  const gateway = new GatewayClient({ url: place.url, stop, credentials });
  try {
    return await command.run(call, { gateway, report: reportFor(json), clock, stop });
  } finally {
    await gateway.close();
  }
}

function reportFor(json: boolean): Report {
  return new Report(print, mention, json, process.stdout.isTTY);
}

function hintFor(fault: CommandFault, asked: Asked | undefined): string {
  if (!(fault instanceof UsageFault)) return '';
  const about = fault.about ?? asked?.command.name;
  return `; see ${about === undefined ? '' : `${about} `}--help`;
}

function asCommandFault(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error;
  if (error instanceof ConfigFault) return new CommandFault(error.faults.join('; '), error.exitCode);
  if (error instanceof StartFault) return new CommandFault(error.message, error.exitCode);
  throw error;
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    stopping.abort();
    // Somebody may be asked something, or a login be on its way that is not answered.
    setTimeout(() => process.exit(EXIT_INTERRUPTED), LEAVE_WITHIN_MS).unref();
  });
// Whoever reads the output may have read enough: `ops ... | head`.
const output = { isReadNoMore: false };
process.stdout.on('error', () => {
  output.isReadNoMore = true;
  stopping.abort();
});
// The clock's timers do not hold a process; this one waits on purpose.
const stay = setInterval(() => undefined, STAY_MS);
const code = await main(process.argv.slice(2), process.env, stopping.signal);
process.exitCode = output.isReadNoMore ? 0 : code;
clearInterval(stay);
