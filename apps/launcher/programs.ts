import { z } from 'zod';
import type { ProcessKind } from '#libs/platform/processes/catalogue.js';
import {
  settingsFaults,
  type ConfigDefinition,
  type Environment,
  type SettingsRule,
} from '#libs/platform/settings/config.js';

/** A kind of process with the settings of its app. */
export interface StartableProgram {
  readonly kind: ProcessKind;
  /** The settings that a process of this kind reads. */
  readonly settings: ConfigDefinition;
  /** What is wrong with this environment, one line each. */
  readonly faults: (env: Environment) => readonly string[];
}

const definition = z.custom<ConfigDefinition>(
  (found) =>
    z.record(z.string(), z.looseObject({ schema: z.instanceof(z.ZodType) })).safeParse(found).success,
);
const narrowing = z.custom<(settings: Readonly<Record<string, string>>) => ConfigDefinition>(
  (found) => typeof found === 'function',
);
const rules = z.array(z.custom<SettingsRule<ConfigDefinition>>((found) => typeof found === 'function'));

export function loadPrograms(kinds: readonly ProcessKind[]): Promise<StartableProgram[]> {
  return Promise.all(kinds.map(loadProgram));
}

/**
 * Finds an app's settings by its name, so that new kinds of process need no change here. An app of several
 * kinds tells what each kind reads.
 */
async function loadProgram(kind: ProcessKind): Promise<StartableProgram> {
  const { app } = kind;
  const found: unknown = await import(`#apps/${app}/config.js`);
  const exported = z.record(z.string(), z.unknown()).parse(found);
  const settings = definition.parse(exported[`${app}Config`]);
  const agreements = rules.parse(exported[`${app}Rules`] ?? []);
  const reads = narrowing.optional().parse(exported[`${app}Reads`]);
  const read = reads === undefined ? settings : definition.parse(reads(kind.settings ?? {}));
  return { kind, settings: read, faults: (env) => settingsFaults(settings, env, agreements) };
}
