import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ConfigDefinition, renderSettingsTable } from '#libs/platform/settings/config.js';
import { toolSettings } from './tool-settings.js';

const CONFIG = /^config\.(js|ts)$/;
const DOCUMENT = 'docs/reference/settings.md';
const CLI = 'cli';

function isDefinition(value: unknown): value is ConfigDefinition {
  if (typeof value !== 'object' || value === null) return false;
  const settings: unknown[] = Object.values(value);
  return (
    settings.length > 0 &&
    settings.every(
      (setting) =>
        typeof setting === 'object' && setting !== null && 'schema' in setting && 'describe' in setting,
    )
  );
}

/** What docs/reference/settings.md has to hold: the definition that every app exports from its config.ts, and of each program of the command line its own. */
export async function settingsTable(appsFolder: string): Promise<string> {
  const found: [string, ConfigDefinition][] = [];
  const apps = (await readdir(appsFolder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  for (const app of apps.map(({ name }) => name).sort()) {
    if (app === CLI) {
      for (const [tool, definition] of Object.entries(toolSettings))
        found.push([`${app}: ${tool}`, definition]);
      continue;
    }
    const file = (await readdir(path.join(appsFolder, app))).find((name) => CONFIG.test(name));
    if (file === undefined) continue;
    const url = pathToFileURL(path.join(appsFolder, app, file));
    const module = (await import(url.href)) as Record<string, unknown>;
    const definition = Object.values(module).find(isDefinition);
    if (definition === undefined) throw new Error(`apps/${app}/config.ts exports no definition`);
    found.push([app, definition]);
  }
  return renderSettingsTable(Object.fromEntries(found));
}

const [, script, target = DOCUMENT] = process.argv;
if (script === import.meta.filename) {
  await writeFile(target, await settingsTable(path.resolve(import.meta.dirname, '..')));
}
