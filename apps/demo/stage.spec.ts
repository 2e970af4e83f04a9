import { expect, it } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { demoConfig } from './config.js';
import { findStage } from './stage.js';

it('tells how to start a cluster in a folder without one', async () => {
  const stage = findStage(loadConfig(demoConfig, { DATA_DIR: '/nowhere at all' }));
  await expect(stage).rejects.toThrow("start one with `DATA_DIR='/nowhere at all' npm start`");
});
