import { defineConfig } from '#libs/platform/settings/config.js';
import { hexKey } from '#libs/platform/settings/setting-types.js';

export const apiKeySettings = defineConfig({
  API_KEY_SECRET: {
    schema: hexKey(),
    describe:
      'Key under which API keys are recognised; with another one, those that were issued before are good no more',
    secret: true,
  },
});
