import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type OptionTable,
  type ParsedCall,
} from '#libs/platform/terminal/commands.js';

const FOLDER_OPTION = {
  folder: { type: 'string', value: 'path', text: 'folder of the backup' },
} as const satisfies OptionTable;
const OPTIONS = { ...FOLDER_OPTION, ...OUTPUT_OPTION } as const satisfies OptionTable;

export const BACKUP = {
  name: 'backup',
  commands: [
    {
      name: 'create',
      operands: [],
      options: OPTIONS,
      summary: 'writes a consistent copy of the whole database into a new folder',
      explanation: ['The cluster keeps running.'],
    },
    {
      name: 'check',
      operands: [],
      options: OPTIONS,
      summary: 'reads a whole backup and tells whether it is complete',
    },
    {
      name: 'restore',
      operands: [],
      options: {
        ...FOLDER_OPTION,
        resume: {
          type: 'boolean',
          text: 'finishes a restore that stopped after all its rows were written; reads no backup',
        },
        wait: {
          type: 'boolean',
          text: 'with --resume: keeps the database open until Enter, so that rows can be corrected first',
        },
        ...OUTPUT_OPTION,
      },
      summary: 'fills an empty database from a backup and migrates it',
    },
  ],
  notes: [
    'Uses the database of DATABASE_URL, as the role that owns the tables, else that of the cluster in DATA_DIR (.data). restore needs an empty',
    'database; without DATABASE_URL it makes one in DATA_DIR. A backup does not hold the secrets of the cluster (secrets.json): keep them elsewhere.',
    'Nor does it hold journals that are in Kafka. Exit codes: 0 done; 1 the backup is damaged; 64 wrong usage; 65 an unfinished',
    'restore is in the way; 69 the database does not answer or is not empty, or something else is in the way, such as a full disk; 78 a wrong setting.',
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
  if (folder === undefined || folder === '') throw new UsageFault(`${command} needs a --folder`, command);
  return { command, folder, json };
}
