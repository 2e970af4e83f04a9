import { parseCommandLine } from '#libs/platform/terminal/command-line.js';

export const USAGE = `Usage: npm run --silent backup -- <command> [options]

  create    writes everything that the database holds into a new folder, as of one moment; the cluster goes on meanwhile
  check     reads a backup through and says whether it is whole
  restore   fills an empty database from a backup, and brings its schema up to date

  --folder path    where the backup is, or is to be (required, but with --resume)
  --resume         restore: goes on with one whose rows are all there, and which something has kept from its end; reads no backup
  --wait           with --resume: first keeps the database open until Enter, for whoever puts its rows right
  --output json    one JSON document instead of text; so is a fault, as the last line on standard error
  --help           this text

The database is that of DATABASE_URL, as the role that owns the tables, else that of the cluster on DATA_DIR (.data). restore wants one that holds
nothing; without DATABASE_URL it makes a new one in DATA_DIR. The secrets of the cluster (secrets.json) are not in it: keep them elsewhere.
Where the journals are kept in Kafka they are not in it either. Exit codes: 0 done; 1 the backup is not whole; 64 called wrongly; 65 what an interrupted restore has left;
69 the database does not answer, is not empty, or something is in the way, such as a full disk; 78 a wrong setting.`;

export const COMMANDS = ['create', 'check', 'restore'] as const;

export type Call = { readonly json: boolean } & (
  | { readonly command: (typeof COMMANDS)[number]; readonly folder: string }
  | { readonly command: 'resume'; readonly waits: boolean }
);

/** Called in a way that means nothing. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault';
}

const OPTIONS = {
  folder: { type: 'string' },
  resume: { type: 'boolean' },
  wait: { type: 'boolean' },
  output: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** What is asked for; undefined for help. */
export function callOf(args: readonly string[]): Call | undefined {
  const { values, positionals } = typed(args);
  if (values.help === true) return undefined;
  const command = COMMANDS.find((name) => name === positionals[0]);
  if (command === undefined || positionals.length > 1) {
    throw new UsageFault(`expected one of ${COMMANDS.join(', ')}`);
  }
  if (values.output !== undefined && values.output !== 'json') {
    throw new UsageFault('the only other output is json');
  }
  const json = values.output === 'json';
  const { folder, resume = false, wait: waits = false } = values;
  if (waits && !resume) throw new UsageFault('--wait goes with --resume');
  if (resume) {
    if (command !== 'restore') throw new UsageFault('--resume goes with restore');
    if (folder !== undefined) throw new UsageFault('--resume reads no backup, and takes no --folder');
    return { command: 'resume', waits, json };
  }
  if (folder === undefined || folder === '') throw new UsageFault(`${command} wants a --folder`);
  return { command, folder, json };
}

function typed(args: readonly string[]) {
  try {
    return parseCommandLine({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}
