import { kafkaSettings } from '#libs/journal/kafka/kafka-settings.js';
import type { ConfigDefinition } from '#libs/platform/settings/config.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { restoreSettings } from './backup/restore-place.js';
import { migrationConfig } from './config.js';
import { databasePlaceSettings } from './open-database.js';
import { idKeySettings } from './id-keys.js';
import { executionSettings, opsSettings } from './ops/gateway-place.js';

/** By tool: the settings that it reads. `kafka` reads none. */
export const toolSettings: Readonly<Record<string, ConfigDefinition>> = {
  accounts: databasePlaceSettings,
  backup: databasePlaceSettings,
  'backup restore': restoreSettings,
  data: databasePlaceSettings,
  healthy: { INTERNAL_HOST: processSettings.INTERNAL_HOST, INTERNAL_PORT: processSettings.INTERNAL_PORT },
  journal: { ...databasePlaceSettings, ...kafkaSettings, ...idKeySettings },
  ledger: databasePlaceSettings,
  migrate: migrationConfig,
  execution: executionSettings,
  ops: opsSettings,
  projection: { ...databasePlaceSettings, ...kafkaSettings },
};
