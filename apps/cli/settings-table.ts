import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ConfigDefinition, renderSettingsTable } from '#libs/platform/settings/config.js';
import { toolSettings } from './tool-settings.js';

const CONFIG = /^config\.(js|ts)$/;
const DOCUMENT = 'docs/reference/settings.md';
const CLI = 'cli';
const SHARED_BY_PROCESSES = 'Shared by processes';
const SHARED_BY_TOOLS = 'Shared by command line tools';

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

/** The content of docs/reference/settings.md: the settings of every app and of each command line tool. */
export async function settingsTable(appsFolder: string): Promise<string> {
  const found: [string, ConfigDefinition][] = [];
  const tools = Object.entries(toolSettings).map(
    ([tool, definition]) => [`${CLI}: ${tool}`, definition] as const,
  );
  const apps = (await readdir(appsFolder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  for (const app of apps.map(({ name }) => name).sort()) {
    if (app === CLI) continue;
    const file = (await readdir(path.join(appsFolder, app))).find((name) => CONFIG.test(name));
    if (file === undefined) continue;
    const url = pathToFileURL(path.join(appsFolder, app, file));
    const module = (await import(url.href)) as Record<string, unknown>;
    const definition = Object.values(module).find(isDefinition);
    if (definition === undefined) throw new Error(`apps/${app}/config.ts exports no definition`);
    found.push([app, definition]);
  }
  return renderSettingsTable({
    [SHARED_BY_PROCESSES]: Object.fromEntries(found),
    [SHARED_BY_TOOLS]: Object.fromEntries(tools),
  });
}

const [, script, target = DOCUMENT] = process.argv;
if (script === import.meta.filename) {
  await writeFile(target, await settingsTable(path.resolve(import.meta.dirname, '..')));
}
