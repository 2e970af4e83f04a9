import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { defineConfig } from '#libs/platform/config.js';
import { databaseSettings } from '#libs/platform/database-settings.js';
import { processSettings } from '#libs/platform/process-settings.js';

export const projectorConfig = defineConfig({ ...processSettings, ...databaseSettings, ...kafkaSettings });

export const projectorRules = [kafkaSettingsAgree];
