export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  /** What stands behind it in help. */
  readonly value?: string;
  readonly describe: string;
}

export type OptionName = keyof typeof OPTIONS;

/** Every option means the same in all commands that have it. */
export const OPTIONS = {
  watch: { type: 'boolean', describe: 'show it again and again until Ctrl-C' },
  every: { type: 'string', value: 'seconds', describe: 'how often, with --watch; 2 unless given' },
  reason: { type: 'string', value: 'text', describe: 'why, up to 200 characters; it is kept with your name' },
  wait: { type: 'boolean', describe: 'come back when the shard carries no live auction any more' },
  timeout: {
    type: 'string',
    value: 'seconds',
    describe: 'how long to --wait at most; for ever unless given',
  },
  scope: { type: 'string', value: 'scope', describe: 'global, venue, market or principal' },
  target: { type: 'string', value: 'id', describe: 'the venue, contract id or account id; not with global' },
  what: { type: 'string', value: 'list', describe: 'create, quote or both; create,quote unless given' },
  limit: { type: 'string', value: 'n', describe: 'how many entries, 1 to 50; 20 unless given' },
  cursor: { type: 'string', value: 'text', describe: 'where the page before ended' },
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** Every command has these. */
export const COMMON_OPTIONS = {
  output: { type: 'string', value: 'json', describe: 'JSON instead of text; faults too, on standard error' },
  url: {
    type: 'string',
    value: 'url',
    describe: 'the gateway, instead of OPS_URL or the cluster on DATA_DIR',
  },
  help: { type: 'boolean', describe: 'help with this command' },
} as const satisfies Readonly<Record<string, OptionSpec>>;

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}
