import { alignedRows } from '#libs/platform/terminal/help.js';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print, speakAs } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { AREAS } from './areas.js';

const CALL = 'npm run --silent sotto --';
const KEEP_ALIVE_MS = 60_000;

function usage(): string {
  return [
    `Usage: ${CALL} <area> <command> [options]`,
    '',
    ...alignedRows(Object.entries(AREAS).map(([name, { summary }]) => [name, summary])),
    '',
    `\`${CALL} <area> --help\` shows the commands of an area, \`${CALL} <area> <command> --help\` the options of one.`,
    '`npm run <area> -- ...` is the same as `npm run sotto -- <area> ...`.',
    'Exit codes: 0 done, 1 refused or check failed, 64 wrong usage, 65 damaged, 69 something does not answer, 78 a wrong setting.',
  ].join('\n');
}

/** Resolves with the exit code. */
async function main([area, ...args]: readonly string[]): Promise<number> {
  if (area === '--help' || area === '-h') {
    print(usage());
    return 0;
  }
  const entry = area !== undefined && Object.hasOwn(AREAS, area) ? AREAS[area] : undefined;
  if (area === undefined || entry === undefined) {
    mention(`sotto: expected one of ${Object.keys(AREAS).join(', ')}; see --help`);
    return EXIT.usage;
  }
  speakAs(area);
  const isAlias = process.env.npm_lifecycle_event === area;
  const program = await entry.load();
  return await program.run(
    { environment: process.env, args },
    isAlias ? `npm run --silent ${area} --` : `${CALL} ${area}`,
  );
}

// Timers of the clock do not keep the process alive; this one does.
const keepAlive = setInterval(() => undefined, KEEP_ALIVE_MS);
try {
  process.exitCode = await codeOf('sotto', () => main(process.argv.slice(2)));
} finally {
  clearInterval(keepAlive);
}
