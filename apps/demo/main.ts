import { loadConfig } from '#libs/platform/settings/config.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { asStartFault, EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { demoConfig } from './config.js';
import { Play } from './play.js';
import { findStage } from './stage.js';
import { DemoTerminal } from './terminal.js';
import { TradingPlay } from './trading/trading-play.js';
import { TradingStage } from './trading/trading-stage.js';

const KEEP_ALIVE_MS = 60_000;

/** Resolves with the exit code. */
async function main(): Promise<number> {
  const { stdout } = process;
  const terminal = new DemoTerminal(print, stdout.isTTY && process.env.NO_COLOR === undefined);
  try {
    const config = loadConfig(demoConfig, process.env);
    const clock = new SystemClock();
    const [play = 'auction', ...others] = process.argv.slice(2);
    if (others.length > 0 || !(play === 'auction' || play === 'trading')) {
      throw new StartFault('there are two demos: `npm run demo`, and `npm run demo -- trading`', EXIT.usage);
    }
    if (play === 'auction') await new Play(await findStage(config), terminal, clock).perform();
    else await new TradingPlay(await TradingStage.find(config.DATA_DIR), terminal, clock).perform();
    return 0;
  } catch (error) {
    const fault = asStartFault(error);
    const message = fault?.message ?? (error instanceof Error ? error.message : String(error));
    for (const line of message.split('\n')) mention(`demo: ${line}`);
    return fault?.exitCode ?? EXIT.bug;
  }
}

// Timers of the clock do not keep the process alive; this one does.
const keepAlive = setInterval(() => undefined, KEEP_ALIVE_MS);
process.exitCode = await main();
clearInterval(keepAlive);
