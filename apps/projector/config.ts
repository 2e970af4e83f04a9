import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { defineConfig, type Config } from '#libs/platform/config.js';
import { databaseSettings } from '#libs/platform/database-settings.js';
import { processSettings } from '#libs/platform/process-settings.js';

const settings = { ...processSettings, ...databaseSettings, ...kafkaSettings };

export type ProjectorConfig = Config<typeof settings>;

export const projectorConfig = defineConfig(settings);

export const projectorRules = [kafkaSettingsAgree];
