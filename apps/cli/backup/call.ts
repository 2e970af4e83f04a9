import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type OptionTable,
  type ParsedCall,
} from '#libs/platform/terminal/commands.js';

const FOLDER_OPTION = {
  folder: { type: 'string', value: 'path', text: 'where the backup is, or is to be' },
} as const satisfies OptionTable;
const OPTIONS = { ...FOLDER_OPTION, ...OUTPUT_OPTION } as const satisfies OptionTable;

export const BACKUP = {
  name: 'backup',
  commands: [
    {
      name: 'create',
      operands: [],
      options: OPTIONS,
      summary: 'writes everything that the database holds into a new folder, as of one moment',
      explanation: ['The cluster goes on meanwhile.'],
    },
    {
      name: 'check',
      operands: [],
      options: OPTIONS,
      summary: 'reads a backup through and says whether it is whole',
    },
    {
      name: 'restore',
      operands: [],
      options: {
        ...FOLDER_OPTION,
        resume: {
          type: 'boolean',
          text: 'goes on with a restore whose rows are all there and which something has kept from its end; reads no backup',
        },
        wait: {
          type: 'boolean',
          text: 'with --resume: first keeps the database open until Enter, for anyone who puts its rows right',
        },
        ...OUTPUT_OPTION,
      },
      summary: 'fills an empty database from a backup, and brings its schema up to date',
    },
  ],
  notes: [
    'The database is that of DATABASE_URL, as the role that owns the tables, else that of the cluster on DATA_DIR (.data). restore wants one that holds',
    'nothing; without DATABASE_URL it makes a new one in DATA_DIR. The secrets of the cluster (secrets.json) are not in it: keep them elsewhere.',
    'Where the journals are kept in Kafka they are not in it either. Exit codes: 0 done; 1 the backup is not whole; 64 called wrongly; 65 what an',
    'interrupted restore has left; 69 the database does not answer, is not empty, or something is in the way, such as a full disk; 78 a wrong setting.',
  ],
} as const satisfies CommandArea;

type BackupCommand = (typeof BACKUP)['commands'][number];

export type BackupCall = { readonly json: boolean } & (
  | { readonly command: BackupCommand['name']; readonly folder: string }
  | { readonly command: 'resume'; readonly waits: boolean }
);

export function callOf({ command: { name: command }, options, json }: ParsedCall<BackupCommand>): BackupCall {
  const folder = options.text('folder');
  const waits = options.isSet('wait');
  if (waits && !options.isSet('resume')) throw new UsageFault('--wait goes with --resume', command);
  if (options.isSet('resume')) {
    if (folder !== undefined)
      throw new UsageFault('--resume reads no backup, and takes no --folder', command);
    return { command: 'resume', waits, json };
  }
  if (folder === undefined || folder === '') throw new UsageFault(`${command} wants a --folder`, command);
  return { command, folder, json };
}
