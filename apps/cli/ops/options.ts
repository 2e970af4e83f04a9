import { OUTPUT_OPTION, type OptionDeclaration, type OptionTable } from '#libs/platform/terminal/commands.js';

export type OptionName = keyof typeof OPTIONS;

/** Every option means the same in all commands that have it. */
const OPTIONS = {
  watch: { type: 'boolean', text: 'show it again and again until Ctrl-C' },
  every: { type: 'string', value: 'seconds', text: 'how often, with --watch; 2 unless given' },
  reason: { type: 'string', value: 'text', text: 'why, up to 200 characters; it is kept with your name' },
  wait: { type: 'boolean', text: 'come back when the shard carries no live auction any more' },
  timeout: { type: 'string', value: 'seconds', text: 'how long to --wait at most; for ever unless given' },
  scope: { type: 'string', value: 'scope', text: 'global, venue, market or principal' },
  target: { type: 'string', value: 'id', text: 'the venue, contract id or account id; not with global' },
  what: { type: 'string', value: 'list', text: 'create, quote or both; create,quote unless given' },
  limit: { type: 'string', value: 'n', text: 'how many entries, 1 to 50; 20 unless given' },
  cursor: { type: 'string', value: 'text', text: 'where the page before ended' },
} as const satisfies OptionTable;

/** Every command has these. */
const COMMON_OPTIONS = {
  ...OUTPUT_OPTION,
  url: { type: 'string', value: 'url', text: 'the gateway, instead of OPS_URL or the cluster on DATA_DIR' },
} as const satisfies OptionTable;

/** Those of one command, and those of all. */
export function optionsOf(...names: readonly OptionName[]): OptionTable {
  const own = names.map((name): [string, OptionDeclaration] => [name, OPTIONS[name]]);
  return { ...Object.fromEntries(own), ...COMMON_OPTIONS };
}
