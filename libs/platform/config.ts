import type { z } from 'zod';
import { ConfigFault } from './start-fault.js';

export interface Setting<S extends z.ZodType = z.ZodType> {
  /** Parses the text of the variable. */
  readonly schema: S;
  /** What it is for, in one line of the operator's language. */
  readonly describe: string;
  /** Text, as the variable would hold it, so that it passes through the same schema. */
  readonly default?: string;
  /** Its value is shown nowhere. */
  readonly secret?: boolean;
}

export type ConfigDefinition = Readonly<Record<string, Setting>>;

export type Config<D extends ConfigDefinition> = { readonly [K in keyof D]: z.output<D[K]['schema']> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Only there to infer the type of every setting. */
export function defineConfig<D extends ConfigDefinition>(definition: D): D {
  return definition;
}

/** Parses every setting once. A variable that is set to nothing counts as not set. */
export function loadConfig<D extends ConfigDefinition>(definition: D, env: Environment): Config<D> {
  const faults: string[] = [];
  const values = Object.entries(definition).map(([name, setting]) => {
    const given = env[name] === '' ? undefined : env[name];
    const parsed = setting.schema.safeParse(given ?? setting.default);
    if (!parsed.success) faults.push(faultLine(name, setting, given, parsed.error));
    return [name, parsed.data];
  });
  if (faults.length > 0) throw new ConfigFault(faults);
  return Object.freeze(Object.fromEntries(values)) as Config<D>;
}

function faultLine(name: string, setting: Setting, given: string | undefined, error: z.ZodError): string {
  if (given === undefined && setting.default === undefined) return `${name} is not set: ${setting.describe}`;
  const value = setting.secret === true ? '' : `=${JSON.stringify(given ?? setting.default)}`;
  return `${name}${value} is wrong: ${error.issues.map((issue) => issue.message).join('; ')}`;
}
