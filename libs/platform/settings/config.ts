import type { z } from 'zod';
import { ConfigFault } from '../process/start-fault.js';

export interface Setting<S extends z.ZodType = z.ZodType> {
  /** Parses the text of the variable. */
  readonly schema: S;
  /** Its purpose, in one line for operators. */
  readonly describe: string;
  /** Text, as in the variable, so that it passes through the same schema. */
  readonly default?: string;
  /** Its value is never shown. */
  readonly secret?: boolean;
  /** An empty value is an error instead of not set: a slip would silently choose something else. */
  readonly neverEmpty?: boolean;
}

export type ConfigDefinition = Readonly<Record<string, Setting>>;

export type Config<D extends ConfigDefinition> = { readonly [K in keyof D]: z.output<D[K]['schema']> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Exists only to infer the type of every setting. */
export function defineConfig<D extends ConfigDefinition>(definition: D): D {
  return definition;
}

/** A rule across several settings: returns one line if they conflict. Called once each of them is valid by itself. */
export type SettingsRule<D extends ConfigDefinition> = (config: Config<D>) => string | undefined;

/** Parses every setting once. An empty variable counts as not set, unless its setting is never empty. */
export function loadConfig<D extends ConfigDefinition>(
  definition: D,
  env: Environment,
  rules: readonly SettingsRule<D>[] = [],
): Config<D> {
  const faults: string[] = [];
  const values = Object.entries(definition).map(([name, setting]) => {
    const given = env[name] === '' && setting.neverEmpty !== true ? undefined : env[name];
    const parsed = setting.schema.safeParse(given ?? setting.default);
    if (!parsed.success) faults.push(faultLine(name, setting, given, parsed.error));
    return [name, parsed.data];
  });
  if (faults.length > 0) throw new ConfigFault(faults);
  const config = Object.freeze(Object.fromEntries(values)) as Config<D>;
  const broken = rules.flatMap((rule) => rule(config) ?? []);
  if (broken.length > 0) throw new ConfigFault(broken);
  return config;
}

/** The faults that loading would report, for the launcher of the process. */
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

function faultLine(name: string, setting: Setting, given: string | undefined, error: z.ZodError): string {
  if (given === undefined && setting.default === undefined) return `${name} is not set: ${setting.describe}`;
  const value = setting.secret === true ? '' : `=${JSON.stringify(given ?? setting.default)}`;
  return `${name}${value} is wrong: ${error.issues.map((issue) => issue.message).join('; ')}`;
}

const HEADER = '| Variable | What it is | Default |\n| - | - | - |';

/** Markdown for docs/reference/settings.md: one table an app, in the order of the schemas. */
export function renderSettingsTable(definitions: Readonly<Record<string, ConfigDefinition>>): string {
  const sections = Object.entries(definitions).map(([app, definition]) => {
    const rows = Object.entries(definition).map(([name, setting]) => row(name, setting));
    return `## ${app}\n\n${HEADER}\n${rows.join('\n')}\n`;
  });
  return `# Settings\n\nMade by \`npm run docs:settings\` from the schemas of the apps; do not edit.\n\n${sections.join('\n')}`;
}

function row(name: string, setting: Setting): string {
  const secret = setting.secret === true ? ' (secret)' : '';
  return `| \`${name}\` | ${cell(setting.describe)}${secret} | ${fallback(setting)} |`;
}

function fallback(setting: Setting): string {
  if (setting.default !== undefined) return setting.default === '' ? 'empty' : `\`${cell(setting.default)}\``;
  return setting.schema.safeParse(undefined).success ? 'none' : 'required';
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
