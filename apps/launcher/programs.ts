import { z } from 'zod';
import type { ProcessKind } from '#libs/platform/processes/catalogue.js';
import {
  settingsFaults,
  type ConfigDefinition,
  type Environment,
  type SettingsRule,
} from '#libs/platform/settings/config.js';

/** A kind of process with what its app says of its settings. */
export interface StartableProgram {
  readonly kind: ProcessKind;
  readonly settings: ConfigDefinition;
  /** What a process would find wrong with this environment, in one line each. */
  readonly faults: (env: Environment) => readonly string[];
}

const definition = z.custom<ConfigDefinition>(
  (found) =>
    z.record(z.string(), z.looseObject({ schema: z.instanceof(z.ZodType) })).safeParse(found).success,
);
const rules = z.array(z.custom<SettingsRule<ConfigDefinition>>((found) => typeof found === 'function'));

export function loadPrograms(kinds: readonly ProcessKind[]): Promise<StartableProgram[]> {
  return Promise.all(kinds.map(loadProgram));
}

/** An app's settings are found by its name, so that a new kind of process is not named here. */
async function loadProgram(kind: ProcessKind): Promise<StartableProgram> {
  const { app } = kind;
  const found: unknown = await import(`#apps/${app}/config.js`);
  const exported = z.record(z.string(), z.unknown()).parse(found);
  const settings = definition.parse(exported[`${app}Config`]);
  const agreements = rules.parse(exported[`${app}Rules`] ?? []);
  return { kind, settings, faults: (env) => settingsFaults(settings, env, agreements) };
}
