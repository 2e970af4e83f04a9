import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { defineConfig, type Config } from '#libs/platform/settings/config.js';
import { databaseSettings } from '#libs/platform/database/database-settings.js';
import { processSettings } from '#libs/platform/settings/process-settings.js';

const settings = { ...processSettings, ...databaseSettings, ...kafkaSettings };

export type ProjectorConfig = Config<typeof settings>;

export const projectorConfig = defineConfig(settings);

export const projectorRules = [kafkaSettingsAgree];
