import type { ConfigDefinition, Setting } from './config.js';

const HEADER = '| Variable | What it is | Default |\n| - | - | - |';

/** Markdown for docs/settings.md: one table an app, in the order of the schemas. */
export function renderSettingsTable(definitions: Readonly<Record<string, ConfigDefinition>>): string {
  const sections = Object.entries(definitions).map(([app, definition]) => {
    const rows = Object.entries(definition).map(([name, setting]) => row(name, setting));
    return `## ${app}\n\n${HEADER}\n${rows.join('\n')}\n`;
  });
  return `# Settings\n\nMade by \`npm run docs:settings\` from the schemas of the apps; do not edit.\n\n${sections.join('\n')}`;
}

function row(name: string, setting: Setting): string {
  const secret = setting.secret === true ? ' (secret)' : '';
  return `| \`${name}\` | ${cell(setting.describe)}${secret} | ${fallback(setting)} |`;
}

function fallback(setting: Setting): string {
  if (setting.default !== undefined) return setting.default === '' ? 'empty' : `\`${cell(setting.default)}\``;
  return setting.schema.safeParse(undefined).success ? 'none' : 'required';
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
