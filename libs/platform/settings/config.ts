import type { z } from 'zod';
import { ConfigFault } from '../process/start-fault.js';

export interface Setting<S extends z.ZodType = z.ZodType> {
  /** Parses the text of the variable. */
  readonly schema: S;
  /** One line about its purpose, for operators. */
  readonly describe: string;
  /** A text like that of the variable, which the schema parses too. */
  readonly default?: string;
  /** True if the value must never be shown. */
  readonly secret?: boolean;
  /** An empty value is an error and does not mean "not set", because a slip would silently change the behaviour. */
  readonly neverEmpty?: boolean;
}

export type ConfigDefinition = Readonly<Record<string, Setting>>;

export type Config<D extends ConfigDefinition> = { readonly [K in keyof D]: z.output<D[K]['schema']> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns its argument. Exists only to infer the types of the settings. */
export function defineConfig<D extends ConfigDefinition>(definition: D): D {
  return definition;
}

/** A rule across several settings. Returns one line if they conflict. Called only if each setting is valid by itself. */
export type SettingsRule<D extends ConfigDefinition> = (config: Config<D>) => string | undefined;

/** Parses every setting once. An empty variable counts as not set, unless its setting is never empty. */
export function loadConfig<D extends ConfigDefinition>(
  definition: D,
  env: Environment,
  rules: readonly SettingsRule<D>[] = [],
): Config<D> {
  const faults: string[] = [];
  const values = Object.entries(definition).map(([name, setting]) => {
    const text = env[name] === '' && setting.neverEmpty !== true ? undefined : env[name];
    const parsed = setting.schema.safeParse(text ?? setting.default);
    if (!parsed.success) faults.push(faultLine(name, setting, text, parsed.error));
    return [name, parsed.data];
  });
  if (faults.length > 0) throw new ConfigFault(faults);
  const config = Object.freeze(Object.fromEntries(values)) as Config<D>;
  const broken = rules.flatMap((rule) => rule(config) ?? []);
  if (broken.length > 0) throw new ConfigFault(broken);
  return config;
}

/** The faults that `loadConfig` would report, for the launcher. */
export function settingsFaults<D extends ConfigDefinition>(
  definition: D,
  env: Environment,
  rules: readonly SettingsRule<D>[] = [],
): readonly string[] {
  try {
    loadConfig(definition, env, rules);
    return [];
  } catch (error) {
    if (error instanceof ConfigFault) return error.faults;
    throw error;
  }
}

function faultLine(name: string, setting: Setting, text: string | undefined, error: z.ZodError): string {
  if (text === undefined && setting.default === undefined) return `${name} is not set: ${setting.describe}`;
  const value = setting.secret === true ? '' : `=${JSON.stringify(text ?? setting.default)}`;
  return `${name}${value} is wrong: ${error.issues.map((issue) => issue.message).join('; ')}`;
}

const HEADER = '| Variable | Default | Meaning |\n| - | - | - |';
const SHARED_BY = 3;
const LINE_WIDTH = 110;
const INTRODUCTION = `Made by \`npm run docs:settings\` from the schemas of the apps; do not edit.

Settings are environment variables. A process does not start without a setting that is "required"; "none" means optional.
A gateway also needs some settings of each service in \`SERVES\`, and reports at its start which are missing. An empty
variable counts as not set, but an empty \`KAFKA_BROKERS\` or \`KAFKA_SSL\` is an error. Values of secrets are never shown.
`;

/** By the heading for shared settings, the apps of the group with their definitions. */
export type SettingsGroups = Readonly<Record<string, Readonly<Record<string, ConfigDefinition>>>>;

/** Renders docs/reference/settings.md with a section for each app. Settings that apps of a group share are listed once. */
export function renderSettingsTable(groups: SettingsGroups): string {
  const shared = new Map<string, string>();
  const sections = Object.entries(groups).flatMap(([heading, definitions]) => {
    const sharedRows = rowsOfSeveral(definitions).filter((line) => !shared.has(line));
    for (const line of sharedRows) shared.set(line, heading);
    const own = Object.entries(definitions).map(([app, definition]) => section(app, definition, shared));
    return sharedRows.length === 0 ? own : [`## ${heading}\n\n${table(sharedRows)}`, ...own];
  });
  return `# Settings\n\n${INTRODUCTION}\n${sections.join('\n')}`;
}

function rowsOfSeveral(definitions: Readonly<Record<string, ConfigDefinition>>): string[] {
  const counts = new Map<string, number>();
  for (const line of Object.values(definitions).flatMap((definition) => rowsOf(definition))) {
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count >= SHARED_BY).map(([line]) => line);
}

function section(app: string, definition: ConfigDefinition, shared: ReadonlyMap<string, string>): string {
  const rows = rowsOf(definition);
  const own = rows.filter((line) => !shared.has(line));
  const references = [...new Set(shared.values())].flatMap((heading) => {
    const all = [...shared.keys()].filter((line) => shared.get(line) === heading);
    const names = all.filter((line) => rows.includes(line)).map((line) => nameIn(line));
    const listed = shortened(
      names,
      all.map((line) => nameIn(line)),
    );
    return names.length === 0 ? [] : [wrapped(`[${heading}](#${anchor(heading)}): ${listed.join(', ')}.`)];
  });
  const parts = [
    `## ${app}\n`,
    ...references.map((text) => `${text}\n`),
    ...(own.length === 0 ? [] : [table(own)]),
  ];
  return parts.join('\n');
}

/** Replaces three or more names with a common first word by `KAFKA_*`, if no other shared setting begins with it. */
function shortened(names: readonly string[], all: readonly string[]): string[] {
  const short = names.map((name) => {
    const start = name.slice(0, name.indexOf('_') + 1);
    const similar = all.filter((other) => start !== '' && other.startsWith(start));
    return similar.length >= SHARED_BY && similar.every((other) => names.includes(other))
      ? `${start}*\``
      : name;
  });
  return [...new Set(short)];
}

function table(rows: readonly string[]): string {
  return `${HEADER}\n${rows.join('\n')}\n`;
}

function rowsOf(definition: ConfigDefinition): string[] {
  return Object.entries(definition).map(([name, setting]) => row(name, setting));
}

function row(name: string, setting: Setting): string {
  const secret = setting.secret === true ? ' (secret)' : '';
  return `| \`${name}\` | ${fallback(setting)} | ${cell(setting.describe)}${secret} |`;
}

function nameIn(line: string): string {
  return line.split(' ', 2)[1] ?? '';
}

function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

function fallback(setting: Setting): string {
  if (setting.default !== undefined) return setting.default === '' ? 'empty' : `\`${cell(setting.default)}\``;
  return setting.schema.safeParse(undefined).success ? 'none' : 'required';
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
