/** Text that is HTML already. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | undefined | readonly Part[];

/** HTML that escapes every value that is not HTML already; lists are joined and `undefined` is empty. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const pieces = texts.map((text, at) => (at === 0 ? text : `${written(parts[at - 1])}${text}`));
  return new Markup(pieces.join(''));
}

function written(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(written).join('');
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
