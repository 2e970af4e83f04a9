import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadPrograms } from '#apps/launcher/programs.js';
import { migrationConfig } from '#apps/cli/config.js';
import { opsSettings } from '#apps/cli/ops/gateway-place.js';
import { toolSettings } from '#apps/cli/tool-settings.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { PROCESSES } from '#libs/platform/processes/catalogue.js';
import { settingsFaults, type ConfigDefinition, type Environment } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';

/** As in a deployment: with a database and without a data folder. */
const TOOLS_ON_JOURNALS: ConfigDefinition = { ...toolSettings.journal, ...databaseSettings };

const PROGRAMS = await loadPrograms(PROCESSES);

export const ROOT = path.resolve(import.meta.dirname, '../..');

/** Not a setting of the product: Node reads it, and memory.db.spec.ts checks its value. */
export const OF_NODE = 'NODE_OPTIONS';

/** The settings that a process of this name reads in a deployment. */
export const SCHEMAS: Readonly<Record<string, ConfigDefinition>> = {
  ...Object.fromEntries(PROGRAMS.map(({ kind, settings }) => [kind.name, settings])),
  migrate: migrationConfig,
  accounts: databaseSettings,
  ledger: databaseSettings,
  journal: TOOLS_ON_JOURNALS,
  'journal-execution': TOOLS_ON_JOURNALS,
  projection: { ...kafkaSettings, ...databaseSettings },
  backup: databaseSettings,
  'accept-restored': TOOLS_ON_JOURNALS,
  operator: TOOLS_ON_JOURNALS,
  ops: opsSettings,
};

function faultsOfTool(env: Environment): readonly string[] {
  return [
    ...settingsFaults(TOOLS_ON_JOURNALS, env),
    ...settingsFaults(kafkaSettings, env, [kafkaSettingsAgree]),
  ];
}

const FAULTS: Readonly<Record<string, (env: Environment) => readonly string[]>> = {
  ...Object.fromEntries(PROGRAMS.map(({ kind, faults }) => [kind.name, faults])),
  migrate: (env) => settingsFaults(migrationConfig, env),
  accounts: (env) => settingsFaults(databaseSettings, env),
  ledger: (env) => settingsFaults(databaseSettings, env),
  journal: faultsOfTool,
  'journal-execution': faultsOfTool,
  projection: faultsOfTool,
  backup: faultsOfTool,
  'accept-restored': faultsOfTool,
  operator: faultsOfTool,
  ops: (env) => settingsFaults(opsSettings, env),
};

/** Any valid value: secret settings are given to the deployment and are not part of it. */
const A_KEY = '0123456789abcdef'.repeat(4);
const AN_ADDRESS = 'https://venue.example';

export function kindOf(name: string): string {
  return name.replace(/-\d$/, '');
}

/** The process's own errors about its environment, with a valid value for each open secret and nothing else set. */
export function faultsOf(kind: string, environment: Environment): readonly string[] {
  const filled = Object.entries(environment).map(([name, value]): [string, string | undefined] => [
    name,
    value?.replaceAll(
      /\$\{([A-Z_]+):(?:\?[^}]*|-([^}]*))\}/g,
      (_all, variable: string, otherwise?: string) =>
        otherwise ?? (variable.endsWith('_URL') ? AN_ADDRESS : A_KEY),
    ),
  ]);
  return FAULTS[kind]?.(Object.fromEntries(filled)) ?? [`there is no ${kind}`];
}

export function unknownSettings(kind: string, environment: Environment): string[] {
  return Object.keys(environment).filter(
    (setting) => setting !== OF_NODE && !(setting in (SCHEMAS[kind] ?? {})),
  );
}

/** Whether the command of a container runs a file that the build makes. */
export function runs([program, script = '']: readonly string[]): boolean {
  const source = script.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  return program === 'node' && script.startsWith('dist/') && existsSync(path.join(ROOT, source));
}
