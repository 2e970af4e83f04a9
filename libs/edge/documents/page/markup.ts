/** Text that is already HTML. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | undefined | readonly Part[];

/** Builds HTML and escapes every value that is not HTML. Lists are joined, and `undefined` is empty. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const pieces = texts.map((text, at) => (at === 0 ? text : `${textOf(parts[at - 1])}${text}`));
  return new Markup(pieces.join(''));
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
}
