import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';
import { integer } from '#libs/platform/settings/setting-types.js';

const settings = {
  ...processSettings,
  ...databaseSettings,
  ...kafkaSettings,
  CELLS: {
    schema: integer(0, 16),
    describe: 'Number of cells whose journals are projected too; 0 without order execution',
    default: '0',
  },
};

export type ProjectorConfig = Config<typeof settings>;

export const projectorConfig = defineConfig(settings);

export const projectorRules = [kafkaSettingsAgree];
